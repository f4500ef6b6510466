# Turns a page into a shell script that does what its reader would do: writes the files that blocks show,
# and runs the commands. What a fence may say, after the three backquotes:
#
#   sh              commands, in the shell in which all those of the page run
#   sh list         commands that measure for minutes: with --list, so that only their arguments are checked
#   LANGUAGE FILE   goes into FILE: begins it, and later blocks of the page with that name continue it
#   rust            a snippet: compiled and run, in the crate that the page has made, as rustdoc does
#   text            output, a drawing, an excerpt: nothing to run
#
# Anything else is an error, and so is a block that is indented in place of being fenced.

function fail(message) {
    printf "%s:%d: %s\n", FILENAME, FNR, message >"/dev/stderr"
    failed = 1
}

# Prints what appends the lines up to the end of the block to a file.
function write_to(file, append) {
    printf "mkdir -p \"$(dirname \"%s\")\"\n", file
    printf "cat %s\"%s\" <<'END OF BLOCK'\n", append ? ">>" : ">", file
    ending = "END OF BLOCK"
}

function begin(language, detail) {
    printf "at %d\n", FNR
    ending = ":"
    if (language == "text" && detail == "") skipping = 1
    else if (language == "sh" && detail == "list") { print "listing"; ending = "measuring" }
    else if (language == "sh" && detail == "") return
    else if (detail != "") { write_to(detail, detail in begun); begun[detail] = 1 }
    else if (language == "rust") {
        write_to("$SNIPPETS", 1)
        print "```rust"
        ending = "```\n" ending
        snippets = 1
    } else fail("nobody runs a block of " (language == "" ? "no language" : language) " without a file")
}

inside && /^```$/ {
    inside = 0
    if (!skipping) print ending
    skipping = 0
    next
}
inside {
    if (!skipping) print
    next
}
/^ *```/ {
    inside = 1
    if (/^ /) fail("a fence stands at the beginning of its line")
    if (/,/) fail("a fence says nothing to rustdoc")
    language = $1
    sub(/^```/, "", language)
    detail = $0
    sub(/^[^ ]* */, "", detail)
    begin(language, detail)
    next
}
/^    / { fail("code is fenced, not indented") }
END {
    if (snippets) print "run_snippets"
    exit failed
}
