#!/usr/bin/env bash
# Runs the script of a page (script.awk) as its reader would.
set -euo pipefail

# at LINE: where the page has come to.
at() {
    echo "== line $1"
}

# Between these two, commands that measure only check what they were asked.
path=$PATH
listing() {
    PATH=$LIST_ONLY:$path
}
measuring() {
    PATH=$path
}

# The page's snippets as the documentation of the crate that the page has made.
run_snippets() {
    [ -e Cargo.toml ] || { echo "the page has snippets and makes no crate" >&2; return 1; }
    mkdir -p src
    printf '#![doc = include_str!("%s")]\n' "$SNIPPETS" >src/lib.rs
    cargo test --quiet --doc
}

# shellcheck source=/dev/null
. "$1"
