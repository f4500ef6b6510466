//! Words: help, lists, and what is answered to wrong usage.

use crate::{allod, run, stderr, stdout};
use std::path::Path;
use std::process::Stdio;

#[test]
fn help_names_the_subcommands_and_succeeds() {
    let output = run(&["--help"]);
    assert!(output.status.success());
    for word in ["run", "compare", "bench"] {
        assert!(stdout(&output).contains(word), "{word}");
    }
}

#[test]
fn wrong_usage_exits_with_2_and_says_what_is_wrong() {
    for (arguments, words) in [
        (&["frobnicate"][..], "frobnicate"),
        (&["run"], "PROGRAM"),
        (&["compare"], "PROGRAM"),
        (&["compare", "--rnus", "3", "true"], "--runs"),
        (&["compare", "--runs", "0", "--", "true"], "--runs"),
        (&["compare", "--threshold", "x", "--", "true"], "from 0 to 100"),
        (&["compare", "--precision", "0", "--", "true"], "above 0"),
        (&["compare", "--precision", "1", "--runs", "9", "--", "true"], "cannot be used with"),
        (&["compare", "--max-runs", "9", "--", "true"], "--precision"),
        (&["compare", "--max-time", "5d", "--", "true"], "90s, 5m or 1h"),
        (&["compare", "--timeout", "0", "--", "true"], "90s, 5m or 1h"),
        (&["compare", "--seed", "x", "--", "true"], "--seed"),
        (&["compare", "--only", "alod", "--", "true"], "did you mean allod?"),
        (&["compare", "--baseline", "sistem", "--", "true"], "did you mean system?"),
        (&["compare", "--peer", "x=/no/lib.so", "--", "true"], "/no/lib.so"),
        (&["compare", "--json", "/no/folder/x.json", "--", "true"], "--json /no/folder/x.json"),
        (&["compare", "--json", "/tmp", "--", "true"], "--json /tmp: this is a folder"),
        (&["record", "-o", "/tmp", "true"], "--output /tmp: this is a folder"),
        (&["compare", "--peer", "x=/tmp", "--", "true"], "Is a directory"),
        (&["compare", "--peer", "x=/etc/passwd", "--", "true"], "not a shared library"),
        (&["compare", "--only", "allod,", "--", "true"], "a name is missing"),
        (&["compare", "--env", "NO_SUCH_VARIABLE", "--", "true"], "NO_SUCH_VARIABLE=VALUE"),
        (&["compare", "--env", "=x", "--", "true"], "NAME=VALUE"),
        (&["bench", "heap", "--only", "random-mixd"], "did you mean random-mixed?"),
        (&["bench", "heap", "--only", " lifo , sistem "], "\"sistem\"; did you mean system?"),
        (&["bench", "heap", "--only", "lifo,sistem"], "did you mean system?"),
        (&["bench", "heap", "--baseline", "alod"], "did you mean allod?"),
        (&["bench", "frame", "--only", "singel-64"], "did you mean single-64?"),
        (&["bench", "frame", "--baseline", "bumpallo"], "did you mean bumpalo?"),
        (&["bench", "region", "--only", "typed-imt"], "did you mean typed-int?"),
        (&["bench", "region", "--baseline", "glib"], "did you mean glibc?"),
        (&["bench", "all", "--only", "lifo"], "bench heap"),
        (&["bench", "all", "--baseline", "system"], "its own baseline"),
        (&["bench", "frame", "--instructions", "--runs", "9"], "cannot be used with"),
        (&["compare", "--instructions", "--runs", "9", "true"], "cannot be used with"),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn every_command_that_measures_lists_what_it_can_measure() {
    for (command, word) in [
        (&["compare", "--list"][..], "glibc"),
        (&["bench", "region", "--list"], "typed-int              1000 integers of 64 bits"),
        (
            &["bench", "frame", "--list"],
            "single-1k-whole        1000 blocks of 1 KiB, each written",
        ),
        (&["bench", "all", "--list"], "burst-idle"),
    ] {
        let output = run(command);
        assert!(output.status.success(), "{command:?}: {}", stderr(&output));
        assert!(stdout(&output).contains(word), "{word} in {}", stdout(&output));
    }
}

#[test]
fn the_command_names_every_part_that_it_needs() {
    let parts = stdout(&run(&["parts"]));
    for part in
        ["allod-launch", "allod-workload", "libnull.so", "libmimalloc.so", "liballod_scheme.a"]
    {
        let path = parts.lines().find(|line| line.ends_with(part)).expect(part);
        assert!(Path::new(path).is_file(), "{path}");
    }
}

#[test]
fn a_closed_pipe_does_not_make_the_command_panic() {
    let mut child = allod()
        .args(["bench", "heap", "--list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
}

#[test]
fn help_settings_lists_every_setting_of_the_heap() {
    let said = run(&["help", "settings"]);
    assert!(said.status.success());
    let text = String::from_utf8(said.stdout).unwrap();
    for name in ["ALLOD_STATS", "ALLOD_PURGE_DELAY_MS", "ALLOD_BACKGROUND", "ALLOD_ABORT"] {
        assert!(text.contains(name), "{text}");
    }
}

#[test]
fn help_knows_commands_and_refuses_other_words() {
    let said = run(&["help", "bench", "heap"]);
    assert!(said.status.success());
    assert!(String::from_utf8(said.stdout).unwrap().contains("--quick"));
    let said = run(&["help", "nothing"]);
    assert_eq!(said.status.code(), Some(2));
    assert!(String::from_utf8(said.stderr).unwrap().contains("allod help settings"));
}
