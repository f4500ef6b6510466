#!/usr/bin/env bash
# allod scheme, as it was installed: compiles, keeps, runs, builds.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
allod=$prefix/bin/allod
cat >"$work/hello.scm" <<'END'
(import (scheme base) (scheme write) (scheme process-context))
(display "Hello")
(for-each (lambda (word) (display " ") (display word)) (cdr (command-line)))
(newline)
END

prints() {
    local expected=$1 found
    shift
    found=$("$@") || return
    printf 'expected: %s\nfound:    %s\n' "$expected" "$found"
    [ "$found" = "$expected" ]
}

kept() {
    [ "$(find "$work/cache/allod/scheme" -type f | wc -l)" -eq 1 ]
}

alone() {
    "$allod" scheme build "$work/hello.scm" -o "$work/hello" &&
        prints "Hello you" "$work/hello" you &&
        ! readelf -d "$work/hello" | grep -q allod
}

emits_c() {
    "$allod" scheme build "$work/hello.scm" --emit-c | grep -q '^#include "scheme.h"'
}

explains() {
    "$allod" scheme explain "$work/hello.scm" | grep -q 'command-line: evacuated'
}

tells() {
    "$allod" scheme --stats "$work/hello.scm" 2>&1 | grep -q '^longest pause'
}

without() {
    prints 'Hello' "$allod" scheme --disable inline --disable types "$work/hello.scm"
}

by_constructors() {
    prints 'Hello' "$allod" scheme --codegen=constructors "$work/hello.scm" &&
        "$allod" scheme build "$work/hello.scm" --codegen=constructors --emit-c | grep -q 'SCH_CONSTRUCTORS'
}

places() {
    { "$allod" scheme "$work/error.scm" 2>&1 || :; } | grep -q 'error.scm:1:1$'
}

# ends CODE COMMAND...
ends() {
    local code=0
    "${@:2}" || code=$?
    [ "$code" -eq "$1" ]
}

check 'scheme: a program is compiled and run' prints 'Hello big world' "$allod" scheme "$work/hello.scm" big world
check 'scheme: the second time it is there' prints 'Hello' "$allod" scheme "$work/hello.scm"
check 'scheme: the cache holds it once' kept
check 'scheme: by clang' prints 'Hello' "$allod" scheme --cc clang "$work/hello.scm"
check 'scheme: an executable needs nothing of Allod' alone
check 'scheme: the C can be seen' emits_c
echo '(car 1)' >"$work/error.scm"
check 'scheme: an uncaught error ends with 70' ends 70 "$allod" scheme "$work/error.scm"
check 'scheme: an uncaught error tells its place' places
check 'scheme: explain shows what is made' explains
check 'scheme: statistics at the end' tells
check 'scheme: without passes' without
check 'scheme: objects made by constructors' by_constructors
echo '(car' >"$work/fault.scm"
check 'scheme: a fault of the program ends with 1' ends 1 "$allod" scheme "$work/fault.scm"
check 'scheme: a wrong option ends with 2' ends 2 "$allod" scheme --no-such-option "$work/hello.scm"
check 'scheme: a compiler that is not there is named' ends 1 "$allod" scheme --cc no-such-cc "$work/hello.scm"

# bench scheme: programs, compiled, run and compared, with the results they must have.
measures() {
    "$allod" bench scheme --quick --runs 1 --no-store --baseline allod-gcc --only fib,ctak,allod-gcc >"$work/bench" &&
        grep -q '^fib .*[0-9]\*' "$work/bench" && grep -q 're-enter continuations' "$work/bench"
}
check 'scheme: programs are measured' measures
