#!/usr/bin/env bash
# Does what each page says, as it stands: writes its files, runs its commands, compiles its programs. The
# reader has installed Allod as README says, and begins each page in an empty folder.
#
#   tests/run pages                        all pages
#   PAGES="docs/rust.md" tests/run pages   one
set -euo pipefail
. "$(dirname "$0")/lib.sh"

have pkg-config pkg-config
have cmake cmake
have valgrind valgrind
have python3 python3
have curl curl

# Its programs take engines, which build for minutes. They stand on the pages of two crates, whose tests run them.
elsewhere=docs/frames-in-engines.md

# programs PAGE...: the Rust on these pages.
programs() {
    awk '/^```/ { inside = $0 == "```rust"; next } inside' "$@"
}

tested_elsewhere() {
    diff <(programs "$elsewhere") <(programs crates/frame-bevy/README.md crates/frame-rapier/README.md)
}

# A home in which only Allod is installed.
home=$work/home
(cd "$root" && ./install --prefix "$home/.local") >"$work/installed" 2>&1 || { cat "$work/installed"; exit 1; }
export CARGO_HOME=${CARGO_HOME:-$HOME/.cargo} RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}

# follow PAGE: in a shell of its own.
follow() {
    local folder=$root
    # README builds what is built already; the programs of all other pages share what they build.
    local target=${CARGO_TARGET_DIR:-$root/target}
    SNIPPETS=$work/$(echo "${1%.md}" | tr / -).snippets.md
    awk -f "$root/tests/pages/script.awk" "$root/$1" >"$work/script.sh" || return
    # README begins in the folder of the sources.
    if [ "$1" != README.md ]; then
        folder=${SNIPPETS%.snippets.md}
        mkdir "$folder"
        target=$root/target/pages
    fi
    (
        cd "$folder"
        env -u XDG_DATA_HOME -u XDG_CACHE_HOME -u XDG_RUNTIME_DIR -u TEST_PREFIX \
            HOME="$home" PATH="$home/.local/bin:$PATH" ALLOD="$root" SNIPPETS="$SNIPPETS" \
            LIST_ONLY="$root/tests/pages/list" CARGO_TARGET_DIR="$target" \
            timeout 900 "$root/tests/pages/reader.sh" "$work/script.sh" </dev/null
    )
}

cd "$root"
for page in ${PAGES:-README.md docs/*.md examples/README.md}; do
    if [ "$page" = $elsewhere ]; then
        check "the programs of $page are tested with their crates" tested_elsewhere
    else
        check "$page does what it says" follow "$page"
    fi
done
