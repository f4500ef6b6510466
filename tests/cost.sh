#!/usr/bin/env bash
# What the fast paths cost, counted and not timed: instructions of malloc and free in the shared
# library, no locked instruction, no call; and what a tiny program pays in resident memory.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

have valgrind valgrind
pairs=1000 # as in pairs.c
gcc -O2 -Wall -Wextra -Werror -fno-builtin -o "$work/pairs" "$root/tests/cost/pairs.c"
gcc -O2 -Wall -Wextra -Werror -static -o "$work/peak" "$root/tests/cost/peak.c"

# count FUNCTION: runs the program under callgrind, counting inside FUNCTION only.
count() {
    on_allod valgrind --tool=callgrind --toggle-collect="$1" \
        --callgrind-out-file="$work/callgrind.$1" "$work/pairs" >/dev/null 2>&1
}

# at_most LIMIT FUNCTION: true if FUNCTION took at most LIMIT instructions a call at every size.
at_most() {
    local dump name total worst=0 sizes=0
    count "$2" || return
    for dump in "$work/callgrind.$2".*; do
        name=$(sed -n 's/^desc: Trigger: Client Request: size-\([0-9]*\)$/\1/p' "$dump")
        [ -n "$name" ] || continue
        total=$(sed -n 's/^totals: //p' "$dump")
        echo "$2 of $name bytes: $total instructions in $pairs calls"
        [ "$total" -ge "$pairs" ] || return # nothing was counted
        [ "$total" -gt "$worst" ] && worst=$total
        sizes=$((sizes + 1))
    done
    [ "$sizes" -ge 12 ] && [ "$worst" -le $(($1 * pairs)) ]
}

disassembly() {
    local start size
    read -r start size < <(nm -D -S "$so" | awk -v name="$1" '$4 == name {print "0x" $1, "0x" $2}')
    objdump -d --no-show-raw-insn --start-address=$((start)) --stop-address=$((start + size)) "$so" |
        grep '^ '
}

# The function is a straight line: it never locks the bus, and leaves for the slow path by a jump.
is_plain() {
    local code
    code=$(disassembly "$1")
    echo "$code"
    [ "$(echo "$code" | grep -c ret)" -ge 1 ] && ! echo "$code" | grep -qwE 'lock|xchg|call'
}

# Largest resident size of `true` in KiB, the least of nine runs.
peak_kib() {
    for _ in 1 2 3 4 5 6 7 8 9; do
        env "$@" "$work/peak" /bin/true
    done | sort -n | head -n 1
}

small_footprint() {
    local plain allod
    plain=$(peak_kib)
    allod=$(peak_kib LD_PRELOAD="$so")
    echo "true: $plain KiB without Allod, $allod KiB with it"
    [ $((allod - plain)) -le 512 ]
}

case $(uname -m) in
    x86_64)
        check "malloc takes at most 14 instructions up to 1 KiB" at_most 14 malloc
        check "free takes at most 18 instructions up to 1 KiB" at_most 18 free
        for function in malloc free _Znwm _ZdlPv; do
            check "$function neither locks nor calls on its fast path" is_plain "$function"
        done
        ;;
esac
check "a tiny program pays at most 512 KiB" small_footprint
