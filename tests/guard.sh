#!/usr/bin/env bash
# Guarded blocks: wrong accesses are found as often as they should be and described, and programs without any run
# as ever, with handlers of their own, in threads and after fork.
# shellcheck disable=SC2016  # programs in perl, given as they are
set -euo pipefail
. "$(dirname "$0")/lib.sh"

flags=(-O1 -g -fno-builtin -pthread -Wall -Wextra -Werror -I "$prefix/include")
libs=(-L "$prefix/lib" "-Wl,-rpath,$prefix/lib" -lallod)
gcc -std=c11 "${flags[@]}" -o "$work/wrong" "$root/tests/guard/wrong.c" "${libs[@]}"
gcc -std=gnu11 "${flags[@]}" -o "$work/handlers" "$root/tests/guard/handlers.c" "${libs[@]}"
g++ -std=c++17 "${flags[@]}" -o "$work/wrong_cc" "$root/tests/guard/wrong.cc" "${libs[@]}"

# is_found STATUS WORDS COMMAND...: it ends with this status after one report with these words.
is_found() {
    local wanted=$1 words=$2 status=0
    shift 2
    (ulimit -c 0 && ALLOD_GUARD=${guard-1/1} "$@") >"$work/out" 2>"$work/err" || status=$?
    cat "$work/err"
    echo "status $status"
    [ "$status" -eq "$wanted" ] && [ "$(grep -c '^allod: ' "$work/err")" -eq 1 ] &&
        grep -q "^allod: .*$words" "$work/err"
}

# names FUNCTION HEADING COMMAND...: addr2line finds the function under that heading of the report.
names() {
    local function=$1 heading=$2 file address
    shift 2
    (ulimit -c 0 && ! ALLOD_GUARD=1/1 "$@" 2>"$work/err" >/dev/null)
    cat "$work/err"
    while IFS=+ read -r file address; do
        addr2line -f -e "${file// /}" "$address" | grep -x "$function" && return
    done < <(sed -n "/  $heading thread/,\$p" "$work/err" | sed '2,${/thread [0-9]*:$/,$d}' | grep "$work/wrong+")
    return 1
}

segv=139
abrt=134
for how in '' thread: child: late:; do
    case $how in late:) guard=0 ;; *) guard=1/1 ;; esac
    check "${how}read after free is found" is_found $segv 'use after free: read at .* 5 bytes inside' \
        "$work/wrong" "${how}read-after-free"
    check "${how}write after free is found" is_found $segv 'use after free: write at .* 5 bytes inside' \
        "$work/wrong" "${how}write-after-free"
    check "${how}double free is found" is_found $abrt 'already freed .*of 100 bytes' \
        "$work/wrong" "${how}double-free"
    check "${how}free of the middle is found" is_found $abrt '16 bytes inside the guarded block' \
        "$work/wrong" "${how}interior-free"
    check "${how}realloc of a freed block is found" is_found $abrt 'realloc(.*already freed' \
        "$work/wrong" "${how}realloc-after-free"
    check "${how}overflow is found" is_found $segv 'overflow): read at .* the end of .* of 96 bytes' \
        "$work/wrong" "${how}overflow"
    check "${how}underflow is found" is_found $segv 'underflow): read at .* 1 bytes before .* of 96 bytes' \
        "$work/wrong" "${how}underflow"
    guard=1/1
done
check "the report names the function that took the block" \
    names take_a_block 'allocated by' "$work/wrong" read-after-free
check "and the one that freed it" names give_it_back 'freed by' "$work/wrong" thread:read-after-free
check "and the one that used it" names look_at 'here, in' "$work/wrong" child:read-after-free
for kind in overflow-large overflow-aligned overflow-zeroed overflow-grown; do
    check "$kind is found" is_found $segv 'overflow): read at .* the end of' "$work/wrong" $kind
done
check "reading a block of no size is found" is_found $segv 'overflow): read .* of 0 bytes' "$work/wrong" empty
check "an overwritten byte is found" is_found $abrt 'overwritten .*of 90 bytes' "$work/wrong" overwrite-one
report_is_whole() {
    local run
    for ((run = 0; run < 40; run++)); do
        is_found $segv 'use after free: read at' "$work/wrong" read-together &&
            grep -q 'freed by' "$work/err" && grep -q 'allocated by' "$work/err" || return
    done
}
check "threads that read a freed block at once get one whole report" report_is_whole
check "a stale object is found in C++" is_found $segv 'use after free: read at' "$work/wrong_cc" stale
check "a second delete is found in C++" is_found $abrt 'free(.*already freed' "$work/wrong_cc" twice

# The C library knows no unwind tables in a static program: the report has no stacks without frame pointers.
gcc -std=c11 "${flags[@]}" -fno-omit-frame-pointer -static -o "$work/wrong_static" "$root/tests/guard/wrong.c" \
    "$prefix/lib/liballod.a"
check "a static program's read after free is found" is_found $segv 'use after free: read at' \
    "$work/wrong_static" read-after-free
check "a static program's double free is found" is_found $abrt 'already freed' "$work/wrong_static" double-free

goes_on() {
    ALLOD_ABORT=0 ALLOD_GUARD=1/1 "$work/wrong" "$1" >"$work/out" 2>"$work/err" || return
    cat "$work/err"
    grep -qx 'went on' "$work/out" && grep -q '^allod: ' "$work/err"
}
for kind in read-after-free write-after-free double-free interior-free overflow underflow; do
    check "$kind is reported and ignored when asked" goes_on $kind
done

# found_in_runs KIND SHARE RUNS LEAST MOST: how many runs of a program that misuses one block out of 1000 find it.
found_in_runs() {
    local found=0 run
    for ((run = 0; run < $3; run++)); do
        (ulimit -c 0 && ALLOD_GUARD=$2 "$work/wrong" "$1" 1000) >/dev/null 2>"$work/err" ||
            found=$((found + 1))
    done
    echo "found in $found of $3 runs"
    [ "$found" -ge "$4" ] && [ "$found" -le "$5" ]
}
# Of 200 runs 20 on average, with a deviation of 4.2: five of them either way.
check "a bug in one block is found in one run of ten at 1/10" found_in_runs read-after-free 1/10 200 3 41
check "no bug is found without guarded blocks" found_in_runs read-after-free 0 20 0 0
check "a guarded write after free never goes unseen" found_in_runs write-after-free 1/1 20 20 20

for kind in own-faults sent ignored stack; do
    check "a program's own handler serves it: $kind" env ALLOD_GUARD=1/1 "$work/handlers" $kind
done
check "a forked child can put the handler in front, too" env ALLOD_GUARD=1/1 "$work/handlers" forks
passes_on_in_the_end() {
    local status=0
    (ulimit -c 0 && ALLOD_GUARD=1/1 "$work/handlers" passes-on) >"$work/out" 2>&1 || status=$?
    cat "$work/out"
    echo "status $status"
    [ "$status" -eq $segv ] && [ ! -s "$work/out" ]
}
check "a handler that passes on comes to an end" passes_on_in_the_end
ends_after_its_last_words() {
    local status=0
    (ulimit -c 0 && ALLOD_GUARD=1/1 "$work/handlers" once) >"$work/out" 2>&1 || status=$?
    cat "$work/out"
    echo "status $status"
    [ "$status" -eq $segv ] && [ "$(grep -c 'last words' "$work/out")" -eq 1 ]
}
check "a handler that is to be called once is called once" ends_after_its_last_words
both() {
    ALLOD_GUARD=1/1 "$work/handlers" stale >"$work/out" 2>"$work/err" || return
    cat "$work/out" "$work/err"
    grep -qx 'caught 1' "$work/out" && grep -q '^allod: use after free: read' "$work/err"
}
check "the report comes before the program's own handler" both

is_named() {
    ALLOD_GUARD=$1 "$work/wrong" none 2>"$work/err" >/dev/null
    cat "$work/err"
    grep -q "^allod: ALLOD_GUARD=$1 ignored; it takes a share" "$work/err"
}
for value in 1/0 5000 often 1/-3 2/5; do
    check "ALLOD_GUARD=$value is named and ignored" is_named $value
done

# Real programs are never accused, and print what they print without guarded blocks.
export ALLOD_GUARD=1/20
same_output "perl with guarded blocks" perl -e \
    'my %h; for (1 .. 100000) { $h{$_ % 1000} .= "x" x ($_ % 50); delete $h{$_ % 77} } print length join "", %h'
same_output "a C++ compiler with guarded blocks" g++ -fsyntax-only -x c++ "$root/tests/cxx/new_delete.cc"
same_output "sort with guarded blocks" sh -c 'seq 200000 | sort -R --random-source=/bin/sh | sort -n | cksum'
same_output "processes of a shell with guarded blocks" sh -c \
    'for i in 1 2 3 4 5 6 7 8; do echo $(echo $i | cat) & wait; done'
unset ALLOD_GUARD

instructions() {
    env "$@" valgrind --tool=callgrind --callgrind-out-file=/dev/null perl -e \
        'my @a; for my $i (1 .. 30000) { push @a, join(",", map { $_ * $i } 1 .. 5); $#a = 100 if @a > 1000 }
         print scalar @a' 2>&1 >/dev/null | sed -n 's/.*Collected : //p'
}
costs_little() {
    local plain guarded
    plain=$(PERL_HASH_SEED=0 instructions LD_PRELOAD="$so")
    guarded=$(PERL_HASH_SEED=0 instructions LD_PRELOAD="$so" ALLOD_GUARD=1/5000)
    echo "perl: $plain instructions without guarded blocks, $guarded with them"
    [ $((guarded - plain)) -le $((plain / 100)) ]
}
have valgrind valgrind
check "1/5000 costs perl at most 1 % of its instructions" costs_little
