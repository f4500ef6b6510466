#!/usr/bin/env bash
# Misuse that the heap sees is named on standard error and ends the program; with ALLOD_ABORT=0 it is
# named, ignored, and the program goes on. Programs live within little address space.
# shellcheck disable=SC2016  # programs in perl and bash, given as they are
set -euo pipefail
. "$(dirname "$0")/lib.sh"

gcc -std=c11 -O1 -fno-builtin -pthread -Wall -Wextra -Werror -o "$work/misuse" \
    "$root/tests/hostile/misuse.c"

# is_caught KIND WORDS: aborts with one line that starts with "allod: " and holds the words.
is_caught() {
    local status=0
    (ulimit -c 0 && on_allod "$work/misuse" "$1") >"$work/out" 2>"$work/err" || status=$?
    cat "$work/err"
    echo "status $status"
    [ "$status" -eq 134 ] && [ "$(grep -c '^allod: ' "$work/err")" -eq 1 ] &&
        grep -q "^allod: .*$2" "$work/err"
}

is_ignored_when_asked() {
    on_allod ALLOD_ABORT=0 "$work/misuse" "$1" >"$work/out" 2>"$work/err" || return
    cat "$work/err"
    grep -qx 'went on' "$work/out" && grep -q '^allod: ' "$work/err"
}

for kind in double-small double-medium double-large double-slab interior-large interior-freed \
    interior-freed-large stack static foreign \
    low high realloc-stack; do
    case $kind in
        double-large) words='free(0x' ;; # its memory is free, or another's already
        double-*) words='already freed' ;;
        interior-freed*) words='block not in use' ;;
        interior-*) words='bytes inside the large block' ;;
        *) words='not a pointer from this heap' ;;
    esac
    check "$kind is caught" is_caught "$kind" "$words"
    check "$kind is ignored when asked" is_ignored_when_asked "$kind"
done

check "interior pointers are caught when they reach their slab" is_caught interior-slab 'bytes inside'

hardened=$prefix/lib/liballod-hardened.so
"$root/tests/hostile/table" "allod=$so" "allod-hardened=$hardened" >"$work/table"

# stops_at_least COLUMN COUNT GROUP: of the attacks of a group, or of all, a build stops that many.
stops_at_least() {
    local stopped
    cat "$work/table"
    stopped=$(awk -F'|' -v column="$1" -v group="$3" \
        'index($2, " " group " (") == 1 { print $column + 0 }' "$work/table")
    [ "${stopped:-0}" -ge "$2" ]
}

# The default build, where it costs nothing.
while read -r count group; do
    check "the default build stops $count of: $group" stops_at_least 3 "$count" "$group"
done <<END
48 double free
50 invalid free
10 mismatched delete
4 size zero
12 secrets and prediction
END
# The hardened build, all but what chance decides.
while read -r count group; do
    check "the hardened build stops $count of: $group" stops_at_least 4 "$count" "$group"
done <<END
48 double free
70 invalid free
42 mismatched delete
60 overflow
34 underflow
144 overflow by the C library
34 use after free
4 size zero
47 secrets and prediction
END

# Reports say by which stacks: who did it, and, where that is noted, who allocated and freed the block.
gcc -std=c11 -O1 -g -fno-builtin -pthread -Wall -Wextra -Werror -o "$work/stacks" "$root/tests/hostile/stacks.c"

# names LIBRARY KIND SIZE [HEADING FUNCTION]...: the report has these headings and no others, each with its function below.
names() {
    local library=$1 kind=$2 size=$3 file address
    (ulimit -c 0 && ! LD_PRELOAD=$library "$work/stacks" "$kind" "$size" >/dev/null 2>"$work/err") || return
    cat "$work/err"
    shift 3
    [ "$(grep -c 'thread [0-9]*:$' "$work/err")" -eq $(($# / 2)) ] || return
    while [ $# -gt 0 ]; do
        while IFS=+ read -r file address; do
            addr2line -f -e "${file// /}" "$address"
        done < <(sed -n "/  $1 thread/,\$p" "$work/err" | sed '2,${/thread [0-9]*:$/,$d}' | grep "$work/stacks+") |
            grep -x "$2" || return
        shift 2
    done
}
for library in "$so" "$hardened"; do
    check "a report of ${library##*/} says who did it" names "$library" inside 2000000 'here, in' misuses_it
done
noted() { ALLOD_STACKS=1 names "$hardened" "$@"; }
for size in 100 9000 200000; do
    check "stacks are noted: $size bytes freed twice" noted double $size \
        'here, in' misuses_it 'freed by' frees_it 'allocated by' allocates_it
    check "stacks are noted: $size bytes freed twice, by two threads" noted double-thread $size \
        'here, in' misuses_it 'freed by' in_thread 'allocated by' allocates_it
    check "stacks are noted: a pointer into $size bytes freed" noted inside $size \
        'here, in' misuses_it 'allocated by' allocates_it
done
check "stacks are noted: written beyond the end" noted overflow 100 'here, in' misuses_it 'allocated by' allocates_it
says_size() { noted overflow 100 'here, in' misuses_it 'allocated by' allocates_it && grep -q 'block: 100 bytes, .* class of 112' "$work/err"; }
check "reports say how much was asked for" says_size
check "a program without mistakes runs while stacks are noted" \
    env ALLOD_STACKS=1 LD_PRELOAD="$hardened" "$work/stacks" nothing 100
is_refused_elsewhere() {
    on_allod ALLOD_STACKS=1 "$work/stacks" nothing 100 2>"$work/err" || return
    grep -q '^allod: ALLOD_STACKS: only the hardened' "$work/err"
}
check "the default build says that it notes no stacks" is_refused_elsewhere

# What is known of a library's frames is forgotten when it is unloaded.
for frame in 1032 2056; do
    gcc -std=c11 -O1 -fomit-frame-pointer -fPIC -shared -DFRAME=$frame -o "$work/frame$frame.so" "$root/tests/hostile/reload.c"
done
gcc -std=c11 -O1 -g -fno-builtin -Wall -Wextra -Werror -o "$work/reload" "$root/tests/hostile/reload.c" -ldl
walks_what_is_loaded() {
    local file address
    on_allod ALLOD_ABORT=0 "$work/reload" "$work/frame1032.so" "$work/frame2056.so" >"$work/out" 2>"$work/err" || return
    cat "$work/out" "$work/err"
    grep -qx 'same place' "$work/out" || return
    while IFS=+ read -r file address; do
        addr2line -f -e "${file// /}" "$address"
    done < <(grep "$work/reload+" "$work/err") | grep -cx main | grep -qx 2
}
check "a library that comes to the place of another is walked by its own tables" walks_what_is_loaded

# Programs without mistakes are never accused.
on_hardened() {
    env LD_PRELOAD="$hardened" "$@"
}
check "perl runs on the hardened heap" on_hardened perl -e \
    'my %h = map { $_ => "x" x 100 } 1 .. 50_000; print scalar(keys %h), "\n"'
check "a C++ compiler runs on the hardened heap" on_hardened g++ -O2 -c -o /dev/null -x c++ \
    "$root/tests/hostile/attacks.cc"
for program in stress thread_exit short_threads mixed_sizes malloc_semantics alignment libc_users; do
    gcc -std=c11 -O1 -g -fno-builtin -pthread -o "$work/$program" "$root/tests/c/$program.c" -ldl \
        -Wl,-z,dynamic-undefined-weak
    check "$program runs on the hardened heap" on_hardened timeout 120 "$work/$program"
done
check "the command runs a program on the hardened heap" "$prefix/bin/allod" run --hardened -- true

names_bad_settings() {
    on_allod ALLOD_PURGE_DELAY_MS=soon ALLOD_FASTER=1 true 2>"$work/err" || return
    cat "$work/err"
    grep -q '^allod: ALLOD_PURGE_DELAY_MS=soon ignored' "$work/err" &&
        grep -q '^allod: unknown setting ALLOD_FASTER ignored' "$work/err" &&
        [ "$(wc -l <"$work/err")" -eq 2 ]
}
check "unknown and bad settings are named and ignored" names_bad_settings

under_limit() {
    # The limit is for the program alone, not for the test.
    bash -c 'ulimit -v 200000; exec env LD_PRELOAD="$0" "$@"' "$so" "$@"
}

check "perl runs under ulimit -v 200000" under_limit perl -e \
    'my %h = map { $_ => "x" x 100 } 1 .. 50_000; print scalar(keys %h), "\n"'
check "awk runs under ulimit -v 200000" under_limit awk \
    'BEGIN { for (i = 0; i < 200000; i++) a[i] = i "x"; print length(a) }'
check "a C++ compiler runs under ulimit -v 200000" under_limit g++ -fsyntax-only -x c++ \
    "$root/tests/cxx/new_delete.cc"

idle_program='
my @blocks = map { "x" x 3000 } 1 .. 40_000;
sub rss { open my $f, "<", "/proc/self/statm"; return 4 * (split " ", <$f>)[1] }
my $full = rss(); @blocks = (); undef @blocks;
select undef, undef, undef, 2.0; my $idle = rss();
print "full $full KiB, idle $idle KiB\n"; exit($idle < $full - 0.9 * 120_000 * 1000 / 1024 ? 0 : 1)'
check "a program that went idle has given its memory back" on_allod perl -e "$idle_program"
