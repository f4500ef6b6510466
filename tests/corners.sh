#!/usr/bin/env bash
# Corners of the heap: fork in signal handlers and beside births, programs that must stay with one
# thread, limits, locked memory, misuse, unloading. What is promised stands in tests/corners/*.
#
#   ALLOD_SO=/path/liballod.so tests/corners.sh                      all, against that library
#   ALLOD_SO=/path/liballod.so tests/corners.sh 'signal fork*'       tests with such names
#   ALLOD_SO= tests/corners.sh 'signal fork*'                        the same on glibc's malloc
set -euo pipefail
[ -z "${ALLOD_SO+set}" ] || export TEST_PREFIX=${TEST_PREFIX:-/usr}
. "$(dirname "$0")/lib.sh"
so=${ALLOD_SO-$so}
unset ALLOD_SO # a setting that Allod does not know
[ $# -gt 0 ] || set -- '*'
patterns=("$@")
sources=$root/tests/corners
library=$work/atfork_library.so
mutex_library=$work/mutex_library.so
ulimit -c 0

have clang clang
warnings="-O1 -g -fno-builtin -Wall -Wextra -Werror -pthread"

# compile COMPILER STANDARD SOURCE OUTPUT OPTIONS...: with the warnings that all tests are free of.
compile() {
    # Options are several words on purpose.
    # shellcheck disable=SC2086
    "$1" $warnings -std="$2" "$sources/$3" -o "$4" "${@:5}"
}

compile_all() {
    local source
    for source in "$sources"/*.c; do
        source=$(basename "$source")
        case $source in
            *_library.c) compile "$1" c11 "$source" "$work/${source%.c}$2.so" -shared -fPIC ;;
            *) compile "$1" c11 "$source" "$work/${source%.c}$2" -Wl,-z,dynamic-undefined-weak ;;
        esac || return
    done
    case $1 in gcc) set -- g++ "$2" ;; clang) set -- clang++ "$2" ;; esac
    compile "$1" c++17 sized_delete.cc "$work/sized_delete$2" -fsized-deallocation
}

wanted() {
    local pattern
    for pattern in "${patterns[@]}"; do
        # Patterns are patterns.
        # shellcheck disable=SC2254
        case $1 in $pattern) return 0 ;; esac
    done
    return 1
}

# corner NAME COMMAND...: like check, but a test may end with 77 where this machine does not allow it.
corner() {
    local name=$1 status=0
    wanted "$name" || return 0
    shift
    "$@" >"$work/log" 2>&1 || status=$?
    case $status in
        0) echo "ok $name" ;;
        77) echo "ok $name (skipped: $(tail -n 1 "$work/log"))" ;;
        *)
            echo "not ok $name (status $status)"
            tail -n 12 "$work/log" | sed 's/^/    /'
            ;;
    esac
}

# runs [VARIABLE=VALUE...] COMMAND...: within 30 seconds; `timeout` itself is not on Allod, for it
# forks, too.
runs() {
    timeout -k 2 30 env LD_PRELOAD="$so" "$@"
}

corner "corners compile with gcc" compile_all gcc ""
corner "corners compile with clang" compile_all clang .clang
[ -x "$work/sized_delete" ] || compile_all gcc ""

programs_are_on_allod() {
    runs ALLOD_VERBOSE=1 "$work/exhaustion" use 2>&1 | grep '^allod: version .* serves process'
}
[ -z "$so" ] || corner "the programs run on Allod" programs_are_on_allod

# fork in a handler of a signal that interrupted malloc
for child in exits allocates returns; do
    corner "signal fork, one thread, 2 ms, child $child" \
        runs "$work/signal_fork" timer 2000 1500 $child
    corner "signal fork, one thread, 200 us, child $child" \
        runs "$work/signal_fork" timer 200 2500 $child
    corner "signal fork, four threads, child $child" \
        runs "$work/signal_fork" threads 4 3000 $child
done
for child in allocates returns; do
    for case in first-small first-large blocks zeroed-and-aligned resized trimmed many-small threads; do
        # No helper, which the trap flag would end.
        corner "signal fork at every instruction, $case, child $child" \
            runs ALLOD_BACKGROUND=0 "$work/step_fork" $case $child
    done
done
corner "signal fork while memory is opened" runs "$work/signal_fork" opening 40 3000 returns
for times in 1 5 20 40 60; do
    corner "signal fork while memory is given back, call $times" \
        runs ALLOD_BACKGROUND=0 ALLOD_PURGE_DELAY_MS=50 "$work/turn_fork" $times
done

# handlers of fork that allocate
for threads in "" " threads"; do
    for when in plain before after; do
        # No word, or one.
        # shellcheck disable=SC2086
        corner "atfork handlers that allocate, $when$threads" runs "$work/atfork" $when $threads
    done
    # shellcheck disable=SC2086
    corner "atfork handlers of a library preloaded first$threads" \
        runs LD_PRELOAD="$library $so" "$work/atfork" library $threads
    # shellcheck disable=SC2086
    corner "atfork handlers of a library preloaded last$threads" \
        runs LD_PRELOAD="$so $library" "$work/atfork" library $threads
done

# fork beside a library that allocates under a mutex of its own
for first in "" ALLOCATE_FIRST=1; do
    # No word, or one.
    # shellcheck disable=SC2086
    {
        corner "atfork handlers that take a mutex, library preloaded first${first:+, $first}" \
            runs LD_PRELOAD="$mutex_library $so" $first "$work/atfork" mutex
        corner "atfork handlers that take a mutex, library preloaded last${first:+, $first}" \
            runs LD_PRELOAD="$so $mutex_library" $first "$work/atfork" mutex
    }
done

# linked WHAT...: builds tests/corners/atfork.c with this, in this order, and runs it without a
# preload; nothing to link with where glibc's malloc is tried.
linked() {
    local program=$work/atfork_linked
    [ -n "$so" ] || { echo "needs a library"; return 77; }
    compile gcc c11 atfork.c "$program" -Wl,--no-as-needed "$@" -Wl,-rpath,"$work" &&
        timeout -k 2 30 "$program" mutex
}
shared=$work/$( [ -z "$so" ] || readelf -d "$so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[ -z "$so" ] || cp "$so" "$shared"
archive=${so%.so}.a
corner "atfork handlers that take a mutex, library linked first" linked "$mutex_library" "$shared"
corner "atfork handlers that take a mutex, library linked last" linked "$shared" "$mutex_library"
corner "atfork handlers that take a mutex, archive and library" linked "$archive" "$mutex_library"
corner "atfork handlers that take a mutex, all static" \
    linked "$sources/mutex_library.c" "$archive" -static

# fork beside births, deaths and purges
corner "fork while threads are born and die" runs "$work/fork_births" births
corner "fork while ever more threads make heaps" runs "$work/fork_births" crowd
corner "fork while memory is purged, 1 ms" runs ALLOD_PURGE_DELAY_MS=1 "$work/fork_births" purge
corner "fork while memory is purged, 10 ms" runs ALLOD_PURGE_DELAY_MS=10 "$work/fork_births" purge
corner "fifty generations of forks leak nothing" \
    runs ALLOD_PURGE_DELAY_MS=1 "$work/fork_births" generations

# programs with one thread
corner "one thread: unshare succeeds after frees" runs "$work/one_thread" unshare
corner "one thread: setns succeeds after frees" runs "$work/one_thread" setns
corner "one thread: a filter that forbids clone" runs "$work/one_thread" filter
corner "one thread: the C library's flag stays" runs "$work/one_thread" flag
corner "one thread: one task" runs "$work/one_thread" tasks
corner "one thread: one task beside growing blocks" runs "$work/one_thread" growing
corner "one thread: idle memory goes back" runs "$work/one_thread" idle
corner "four threads: idle memory goes back" runs "$work/one_thread" idle-threads

# ends of processes, children of bare system calls, threads that are refused
ends_after_pthread_exit() {
    timeout -k 1 10 env LD_PRELOAD="$so" ALLOD_PURGE_DELAY_MS=10 \
        "$work/process_end" pthread_exit "$1" | grep -x 'the last thread ends'
}
corner "main calls pthread_exit, memory in use: the process ends" ends_after_pthread_exit used
corner "main calls pthread_exit, memory freed: the process ends" ends_after_pthread_exit freed
corner "children of fork, vfork and clone: prctl and unshare" runs "$work/process_end" children
corner "unshare takes no time to speak of" runs "$work/process_end" unshare
corner "threads are refused: malloc seldom asks" runs "$work/process_end" refused
corner "prctl while a thread is being started" runs "$work/process_end" starting
corner "malloc's thread under a filter that it was not told of" runs "$work/quiet" filter
corner "malloc's thread takes no descriptor" runs "$work/quiet" descriptors

# much free address space, ageing, locked memory
corner "blocks beside 4 GiB just freed" runs "$work/holds" at-once
corner "blocks beside 4 GiB given back" runs ALLOD_PURGE_DELAY_MS=50 "$work/holds" later
corner "old memory goes back beside a hot run" runs "$work/ageing" churn
corner "locked memory: idle, and little locked" runs "$work/ageing" locked
corner "locked memory: within a limit" runs "$work/ageing" locked-limit
corner "locked memory: what is mapped, within a limit" runs "$work/ageing" locked-now
corner "locked memory: a refusal locks nothing" runs "$work/ageing" locked-refused

corner "locked pages do not keep other memory" runs ALLOD_PURGE_DELAY_MS=100 "$work/kept" locked
corner "locked pages do not keep other memory from malloc_trim" \
    runs ALLOD_BACKGROUND=0 "$work/kept" trimmed
corner "sizes that follow each other share memory" runs "$work/kept" sizes
corner "memory of destroyed heaps goes back" runs ALLOD_PURGE_DELAY_MS=100 "$work/kept" heaps

# huge pages
# stays NAME=VALUE N: what stays resident, in KiB, when all but every Nth of many blocks are freed.
stays() {
    runs "$1" ALLOD_PURGE_DELAY_MS=100 "$work/huge_pages" survivors "$2"
}
little_more_stays() {
    local without with
    without=$(stays ALLOD_HUGEPAGES=0 "$1") && with=$(stays ALLOD_HUGEPAGES=2 "$1") || return
    echo "KiB resident: $without without huge pages, $with with them"
    # A twentieth, and a MiB for what differs from run to run.
    [ "$with" -le $((without + without / 20 + 1024)) ]
}
if [ -n "$so" ]; then
    corner "huge pages in a large program that uses what it takes" runs "$work/huge_pages" dense
    corner "no huge pages where blocks are hardly touched" runs "$work/huge_pages" sparse
    corner "no huge pages in a small program" runs "$work/huge_pages" small
    corner "huge pages are broken for what is free when asked" \
        runs ALLOD_PURGE_DELAY_MS=100 "$work/huge_pages" trim
    corner "huge pages are refused: no harm" runs "$work/huge_pages" refused
    for keep in 1000000 1000 100 20 4; do
        corner "huge pages: as much goes back when one block in $keep stays" little_more_stays $keep
    done
fi

# large blocks
# limited LETTER KIB COMMAND...: like runs, under that limit.
limited() {
    (ulimit "-$1" "$2" && runs "${@:3}")
}
corner "a block moved many times keeps its contents" runs "$work/large_blocks" seams
corner "blocks that moved leave no mappings behind" runs "$work/large_blocks" mappings
corner "what a shrinking block gives up goes back" \
    runs ALLOD_PURGE_DELAY_MS=100 "$work/large_blocks" shrinking
corner "grown blocks do not keep memory freed before" \
    runs ALLOD_PURGE_DELAY_MS=100 "$work/large_blocks" growing
corner "a block is made smaller with memory run out" limited v 400000 "$work/large_blocks" smaller
corner "a free run is found behind smaller ones" limited v 400000 "$work/large_blocks" hole
corner "blocks grow under ulimit -d" limited d 60000 "$work/large_blocks" data
corner "pages of others behind the heap's stay" runs "$work/large_blocks" others

# exhaustion
fills_as_glibc_does() {
    local numbers
    read -r -a numbers < <(ulimit -v 300000 && exec "$work/exhaustion" fill)
    echo "glibc: ${numbers[*]}"
    (ulimit -v 300000 && exec env LD_PRELOAD="$so" timeout 30 "$work/exhaustion" fill "${numbers[@]}")
}
corner "20,000 untouched blocks of 1 GiB" runs "$work/exhaustion" gigabytes
corner "under ulimit -v blocks of other sizes follow" fills_as_glibc_does
corner "34,000 grown blocks leave mappings to others" runs "$work/exhaustion" growing
corner "mprotect fails after start" runs "$work/exhaustion" no-mprotect
corner "mprotect fails from the start" timeout -k 2 30 "$work/exhaustion" no-mprotect-exec \
    env LD_PRELOAD="$so" "$work/exhaustion" use
corner "posix_memalign leaves ENOMEM" runs "$work/exhaustion" posix_memalign
corner "RLIMIT_AS lowered by the program: malloc" runs "$work/exhaustion" limit
corner "RLIMIT_AS lowered by the program: others" runs "$work/exhaustion" limit-others
corner "RLIMIT_AS of a child lowered: nothing changes" runs "$work/exhaustion" limit-child

# unloading
unloads() {
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}/corners \
        cargo build --release --locked --quiet --manifest-path "$sources/cdylib/Cargo.toml" &&
        timeout -k 2 30 "$work/unload" \
            "${CARGO_TARGET_DIR:-$root/target}/corners/release/libcorner.so"
}
corner "a Rust library on Allod is unloaded" unloads

# misuse
# is_caught COMMAND...: aborts, with one line at least that starts with "allod: ".
is_caught() {
    local status=0
    runs "$@" >"$work/out" 2>"$work/err" || status=$?
    tail -n 3 "$work/err"
    echo "status $status"
    [ "$status" -eq 134 ] && grep -q '^allod: ' "$work/err"
}

# goes_on LINES COMMAND...: names that much misuse at least and goes on.
goes_on() {
    local status=0
    runs ALLOD_ABORT=0 "${@:2}" >"$work/out" 2>"$work/err" || status=$?
    grep -v '^allod: ' "$work/err" || true
    echo "status $status, $(grep -c '^allod: ' "$work/err") lines"
    [ "$status" -eq 0 ] && grep -qx 'went on' "$work/out" &&
        [ "$(grep -c '^allod: ' "$work/err")" -ge "$1" ]
}

handler_allocates() {
    local status=0
    runs "$work/double_free" handler "$1" >"$work/out" 2>"$work/err" || status=$?
    tail -n 3 "$work/err"
    echo "status $status"
    [ "$status" -eq 42 ] && grep -q '^allod: ' "$work/err"
}

race_is_caught() {
    local left=20
    while ((left-- > 0)); do
        is_caught "$work/double_free" race 50 || return
    done
}
corner "double free race of a large block is caught" race_is_caught
corner "double free race of a large block, going on" goes_on 2000 "$work/double_free" race 2000
# What takes a look at every block that comes back from another thread is the hardened heap's.
corner "double free remote-twice-in-a-row is caught" is_caught "$work/double_free" remote-twice-in-a-row
for kind in realloc-small realloc-shrink realloc-large realloc-large-16; do
    corner "$kind of an interior pointer is caught" is_caught "$work/double_free" $kind
    corner "$kind of an interior pointer, going on" goes_on 1 "$work/double_free" $kind
done
for kind in small slab large remote-twice-in-a-row realloc-large; do
    corner "a handler of SIGABRT allocates after $kind" handler_allocates $kind
done

# Settings in a program with more rights than its user: honoured, or said not to be.
setuid_program_is_there() {
    if [ "$(id -u)" -ne 0 ] || [ -z "$so" ] || ! command -v setpriv >/dev/null; then
        echo "needs root, setpriv and a library"
        return 77
    fi
    chmod 755 "$shared" || return
    gcc -std=c11 -O1 -fno-builtin -pthread -o "$work/secure" "$root/tests/hostile/misuse.c" \
        -Wl,--no-as-needed "$shared" -Wl,-rpath,"$work" || return
    chown root:root "$work/secure" && chmod 4755 "$work/secure"
}
settings_of_setuid_program() {
    local status=0
    setuid_program_is_there || return
    setpriv --reuid 65534 --regid 65534 --clear-groups env ALLOD_ABORT=0 \
        "$work/secure" double-large >"$work/out" 2>"$work/err" || status=$?
    cat "$work/err"
    echo "status $status"
    grep -q '^allod: ' "$work/err" || return
    [ "$status" -eq 0 ] && grep -qx 'went on' "$work/out" && return
    [ "$status" -eq 134 ] && grep -qiE 'set-?uid|AT_SECURE' "$root/docs/settings.md"
}
corner "settings of a setuid program" settings_of_setuid_program

# Its caller could have any file replaced otherwise.
setuid_program_writes_no_profile() {
    setuid_program_is_there || return
    local profile=$work/secure.pb.gz
    setpriv --reuid 65534 --regid 65534 --clear-groups env ALLOD_PROFILE="$profile,every=1" "$work/secure" none
    [ ! -e "$profile" ] || return
    # With no more rights than its caller's it writes one.
    chmod 755 "$work/secure" && ALLOD_PROFILE="$profile,every=1" "$work/secure" none
    [ -s "$profile" ]
}
corner "a setuid program writes no profile" setuid_program_writes_no_profile

deletes() {
    runs "$work/sized_delete" right
}
corner "sized delete with right sizes" deletes
for kind in smaller larger array; do
    corner "sized delete with a size of another class is caught: $kind" \
        is_caught "$work/sized_delete" $kind
done

# many threads
corner "100,000 threads born and gone" runs "$work/thread_births"
corner "64 threads churn over all sizes" runs "$work/churn"
for shape in magnitudes magnitudes-passed sizes come-and-go; do
    corner "64 threads rarely take a shared lock: $shape" runs "$work/locks" $shape
done

# threads that go idle
corner "an idle thread sends what it has freed: handed out" runs "$work/parcels" handed-out
corner "an idle thread sends what it has freed: purged" runs "$work/parcels" purged
corner "10,000 idle threads cost a turn nothing" runs "$work/parcels" turns
