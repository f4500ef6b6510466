#!/usr/bin/env bash
# Shared by the test scripts. Each script prints one line per test, `ok NAME` or `not ok NAME`, and
# tests/run counts them.

# shellcheck disable=SC2034  # used by the scripts that read this file
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
prefix=${TEST_PREFIX:?run the tests with tests/run}
so=$prefix/lib/liballod.so
work=$(mktemp -d "${TMPDIR:-/tmp}/allod-test.XXXXXX")
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT

# check NAME COMMAND...: one test; it passes if the command does.
check() {
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        echo "ok $name"
    else
        echo "not ok $name (status $?)"
        tail -n 20 "$work/log" | sed 's/^/    /'
    fi
}

# on_allod COMMAND...: runs a command with Allod preloaded.
on_allod() {
    env LD_PRELOAD="$so" "$@"
}

# have PROGRAM PACKAGE...: makes sure that a program is there, from Debian's packages if need be.
have() {
    command -v "$1" >/dev/null && return
    apt_install "${@:2}"
    hash -r
    command -v "$1" >/dev/null || return
}

# apt_install PACKAGE...: installs packages, refreshing the lists only if that fails; one script at a time.
apt_install() {
    local apt="apt-get install -y -qq --no-install-recommends"
    {
        flock 9
        { $apt "$@" || { apt-get update -qq && $apt "$@"; }; } >/dev/null 2>&1 9>&-
    } 9>"${TMPDIR:-/tmp}/allod-tests-apt.lock"
}

# uses_allod FILE COMMAND...: true if the program or library FILE, when this command runs it with
# Allod preloaded, finds malloc in liballod.so. The dynamic linker itself tells.
uses_allod() {
    local file=$1
    shift
    rm -f "$work"/bindings.*
    LD_DEBUG=bindings LD_DEBUG_OUTPUT=$work/bindings on_allod "$@" >/dev/null 2>&1 </dev/null
    grep -qs "binding file [^ ]*${file}[^ ]* .* to $prefix/lib/liballod.so.* symbol .malloc'" \
        "$work"/bindings.*
}

# same_output NAME COMMAND...: the command prints the same and ends the same with Allod and without.
same_output() {
    local name=$1 plain=0 allod=0
    shift
    "$@" >"$work/plain" 2>"$work/plain.err" </dev/null || plain=$?
    on_allod "$@" >"$work/allod" 2>"$work/allod.err" </dev/null || allod=$?
    check "$name" same_results "$plain" "$allod"
}

same_results() {
    tail -n 5 "$work/allod.err"
    echo "exit status $1 without Allod, $2 with it"
    [ "$1" = "$2" ] && diff "$work/plain" "$work/allod"
}
