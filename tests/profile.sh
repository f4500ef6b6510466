#!/usr/bin/env bash
# Heap profiles: a program whose allocations by place are known comes out within the sampling error, in pprof's own
# reader; files that cannot be written and settings that mean nothing are named.
# shellcheck disable=SC2016  # a program in perl, given as it is
set -euo pipefail
. "$(dirname "$0")/lib.sh"

gcc -std=gnu11 -O1 -g -fno-builtin -pthread -Wall -Wextra -Werror -I "$prefix/include" -o "$work/known" \
    "$root/tests/profile/known.c" -L "$prefix/lib" "-Wl,-rpath,$prefix/lib" -lallod
PATH=$PATH:/usr/local/go/bin
export GOCACHE=$work/go HOME=$work PPROF_TMPDIR=$work
if ! command -v go >/dev/null; then apt_install golang-go; fi

# top INDEX PROFILE: function and bytes, one line for each function that allocates.
top() {
    go tool pprof -symbolize=local -sample_index="$1" -top -flat -unit=B -nodecount=100 -nodefraction=0 \
        "${program-$work/known}" "$2" 2>"$work/pprof.err" | awk '/^ +flat/ {on = 1; next} on {sub("B", "", $1); print $6, $1}'
}

# is_near PROFILE EXPECTED ERROR: live bytes and all bytes are right within so many parts of 1,000.
is_near() {
    local name live all
    top inuse_space "$1" >"$work/live"
    top alloc_space "$1" >"$work/all"
    cat "$work/live" "$work/all" "$work/pprof.err"
    while read -r name live all; do
        within "$3" "$name" "$live" "$work/live" || return
        within "$3" "$name" "$all" "$work/all" || return
    done <"$2"
}

within() {
    awk -v error="$1" -v name="$2" -v expected="$3" '
        $1 == name {found = $2}
        END {
            off = found > expected ? found - expected : expected - found
            print name, "expected", expected, "found", found + 0
            exit !(off <= expected * error / 1000)
        }' "$4"
}

# Within a tenth: the fewest samples of a site are some 1,900, of which one in forty more or less is usual.
comes_out_right() {
    "$@" >"$work/expected" || return
    is_near "$work/heap.pb.gz" "$work/expected" 100
}
check "a program's allocations come out right" \
    comes_out_right env ALLOD_PROFILE="$work/heap.pb.gz,every=4KiB" "$work/known"
check "a forked child leaves its parent's profile alone" \
    comes_out_right env ALLOD_PROFILE="$work/heap.pb.gz,every=4KiB" "$work/known" fork
check "dumps under load lose nothing" comes_out_right "$work/known" dumps "$work/heap.pb.gz"
if [ -x "$prefix/bin/allod" ]; then
    check "allod run --profile profiles the program" \
        comes_out_right "$prefix/bin/allod" run --profile "$work/heap.pb.gz,every=4KiB" -- "$work/known"
fi
guarded() {
    comes_out_right env ALLOD_GUARD=1/100 ALLOD_PROFILE="$work/heap.pb.gz,every=4KiB" "$work/known"
}
check "guarded blocks are in the profile, too" guarded

# The hardened build takes samples, too.
gcc -std=gnu11 -O1 -g -fno-builtin -pthread -DSLACK=1 -I "$prefix/include" -o "$work/known_hardened" \
    "$root/tests/profile/known.c" -L "$prefix/lib" "-Wl,-rpath,$prefix/lib" -l:liballod-hardened.so
hardened() { program=$work/known_hardened comes_out_right "$@"; }
check "a program's allocations come out right on the hardened heap" \
    hardened env ALLOD_PROFILE="$work/heap.pb.gz,every=4KiB" "$work/known_hardened"
check "dumps under load lose nothing on the hardened heap" hardened "$work/known_hardened" dumps "$work/heap.pb.gz"

# The same from Allod's own reader: what a place holds itself is at the end of a way through the tree.
if [ -x "$prefix/bin/allod" ]; then
    env ALLOD_PROFILE="$work/heap.pb.gz,every=4KiB" "$work/known" >"$work/expected"
    report() { "$prefix/bin/allod" report --profile "$work/heap.pb.gz" "$@"; }
    is_read() {
        local name live all
        report --least 0 --value inuse_objects >"$work/tree" || return
        while read -r name live all; do
            [ "$live" -eq 0 ] || grep -q "$name (known.c:[0-9]*)" "$work/tree" || return
        done <"$work/expected"
    }
    check "allod report --profile names every place" is_read
    pictures() {
        report --svg "$work/heap.svg" --html "$work/heap.html" || return
        grep -q '<title>keeps_small (' "$work/heap.svg" && grep -q '<svg' "$work/heap.html" &&
            ! grep -qE '(src|href)="http' "$work/heap.html"
    }
    check "a flame graph and a page are drawn, and need no network" pictures
    nothing_changed() { report --base "$work/heap.pb.gz" | grep -q ': 0 B in 0 stacks'; }
    check "a profile does not differ from itself" nothing_changed
    is_refused() {
        local status=0
        head -c 300 "$work/heap.pb.gz" >"$work/cut.pb.gz"
        "$prefix/bin/allod" report --profile "$work/cut.pb.gz" 2>"$work/err" || status=$?
        cat "$work/err"
        [ "$status" -eq 2 ] && grep -q 'damaged or ends early' "$work/err"
    }
    check "a profile that was cut off is named" is_refused
    has_changed() {
        cp "$work/known" "$work/kept" && strip -R .note.gnu.build-id "$work/known" || return
        report >"$work/tree" && mv "$work/kept" "$work/known" && cat "$work/tree"
        grep -q "note: functions of $work/known have no names: it was rebuilt" "$work/tree"
    }
    check "a program that was built anew is named" has_changed
fi

# Frames and regions are in a profile as what they are, by labels and, in Allod's own reader, by name.
gcc -std=gnu11 -O1 -g -fno-builtin -pthread -Wall -Wextra -Werror -I "$prefix/include" -o "$work/layers" \
    "$root/tests/profile/layers.c" -L "$prefix/lib" "-Wl,-rpath,$prefix/lib" -lallod
layers_are_labelled() {
    local layer bytes
    "$work/layers" "$work/layers.pb.gz" >"$work/expected" || return
    go tool pprof -sample_index=inuse_space -tags -unit=B "$work/layers" "$work/layers.pb.gz" >"$work/tags" 2>"$work/pprof.err"
    cat "$work/expected" "$work/tags" "$work/pprof.err"
    # What a layer holds comes in units of 64 KiB, and with heads of its own.
    while read -r layer bytes; do
        awk -v name="$layer" -v least="$bytes" '
            $NF == name {sub("B", "", $1); found = $1}
            END {exit !(found >= least && found <= least + 4 * 65536)}' "$work/tags" || return
    done <"$work/expected"
}
check "frames and regions have labels" layers_are_labelled
if [ -x "$prefix/bin/allod" ]; then
    layers_are_named() {
        "$prefix/bin/allod" report --least 0 --profile "$work/layers.pb.gz" >"$work/tree" || return
        cat "$work/tree"
        grep -q ' 5\.[0-9] MiB .*memory of the layer frame$' "$work/tree" && grep -q 'memory of the layer region$' "$work/tree" &&
            grep -q ' 1\.6 KiB .*region_type pair$' "$work/tree"
    }
    check "allod report --profile names them" layers_are_named
fi

each_process_has_its_own() {
    rm -f "$work"/p.*
    ALLOD_PROFILE="$work/p.%p" "$work/known" fork >/dev/null || return
    [ "$(find "$work" -name 'p.*' | wc -l)" -eq 2 ]
}
check "%p gives each process a file" each_process_has_its_own
writes_no_file() {
    (mkdir -p "$work/empty" && cd "$work/empty" && ALLOD_PROFILE=$1 "$work/known" >/dev/null 2>"$work/err") || return
    cat "$work/err"
    [ -z "$(ls "$work/empty")" ]
}
check "ALLOD_PROFILE=0 asks for none" writes_no_file 0
check "a name that is no UTF-8 is refused, and no other file is written" writes_no_file $'\xff.gz'

gcc -std=gnu11 -O1 -g -fno-builtin -pthread -Wall -Wextra -Werror -I "$prefix/include" -o "$work/dumps" \
    "$root/tests/profile/dumps.c" -L "$prefix/lib" "-Wl,-rpath,$prefix/lib" -lallod
# dump_is_whole KIND: written within 30 seconds, whatever happens beside it, and the program's file is named in it.
dump_is_whole() {
    timeout -k 2 30 "$work/dumps" "$1" "$work/dump.pb.gz" || return
    gzip -dc "$work/dump.pb.gz" >"$work/dump.pb" && grep -q "$work/dumps" "$work/dump.pb"
}
check "mapped files that have shrunk do not disturb a dump" dump_is_whole shrunk
check "nor do files that are mapped and unmapped meanwhile" dump_is_whole unmapped
check "nor forks in handlers that interrupt it, and in other threads" dump_is_whole interrupted
check "a dump names its files when the first thread has ended" dump_is_whole ended
check "a dump into a pipe that the program reads itself ends" dump_is_whole piped
ends_on_a_small_stack() {
    rm -f "$work/dump.pb.gz"
    ALLOD_STATS=1 ALLOD_PROFILE="$work/dump.pb.gz" dump_is_whole small-stack 2>"$work/err" || return
    grep -q '^allod .* heap, process' "$work/err"
}
check "a handler on a small stack may end the process" ends_on_a_small_stack

is_named_whole() {
    mkdir -p "$work/a folder" && cp "$work/known" "$work/a folder/known  program" || return
    ALLOD_PROFILE="$work/p.gz" "$work/a folder/known  program" && gzip -dc "$work/p.gz" | grep -q "$work/a folder/known  program"
}
check "a path with spaces is written whole" is_named_whole

gcc -std=c11 -O1 -fno-builtin -pthread -Wall -Wextra -Werror -o "$work/small_stack" "$root/tests/profile/small_stack.c"
fits_on_a_small_stack() {
    local plain sampled
    plain=$(on_allod "$work/small_stack") && sampled=$(on_allod "$@" "$work/small_stack") || return
    echo "of its stack a thread uses $plain bytes, and $sampled where blocks are sampled"
    [ "$sampled" -gt "$plain" ] && [ $((sampled - plain)) -le 4096 ] && [ "$sampled" -le 12288 ]
}
check "a profiled malloc takes at most 4 KiB of a thread's stack" fits_on_a_small_stack ALLOD_PROFILE=/dev/null,every=1B
check "a guarded malloc takes at most 4 KiB of a thread's stack" fits_on_a_small_stack ALLOD_GUARD=1/1

# Profiles at a signal. Python starts with ARGUMENTS... to ALLOD_PROFILE, and tells when it is ready.
have python3 python3
begin() {
    rm -f "$work"/at.* "$work/said"
    ALLOD_PROFILE="$work/at.pb.gz,every=4KiB,signal=SIGUSR2" LD_PRELOAD=$so python3 -u -c "$1" >"$work/said" &
    program=$!
    says ready
}
says() { soon grep -q "^$1" "$work/said"; }
# soon COMMAND...: true within ten seconds.
soon() {
    for _ in $(seq 100); do
        "$@" 2>>"$work/soon" && return
        sleep 0.1
    done
    return 1
}
signals_write_numbered_profiles() {
    begin 'import time; kept = [bytes(100) for _ in range(10**5)]; print("ready"); time.sleep(60)' || return
    for i in 1 2 3; do
        kill -USR2 "$program" && soon gzip -tq "$work/at.pb.gz.$i" || return
    done
    [ ! -e "$work/at.pb.gz.4" ] && kill -0 "$program" && kill "$program"
}
check "each SIGUSR2 writes a profile with a number, and the program goes on" signals_write_numbered_profiles
signals_while_it_allocates() {
    begin 'import sys
print("ready")
for i in range(10): s = sum(len(bytes(j % 5000)) for j in range(50000))
print("sum", s)' || return
    local sent=0
    while kill -USR2 "$program" 2>/dev/null; do
        sent=$((sent + 1))
        sleep 0.02
    done
    wait "$program" || return
    grep -qx 'sum 124975000' "$work/said" || return
    set -- "$work"/at.pb.gz.*
    echo "$sent signals, $# profiles"
    [ $# -ge 3 ] && gzip -t "$@" "$work/at.pb.gz"
}
check "signals that interrupt allocations do no harm, and all profiles are whole" signals_while_it_allocates
own_handler_stays() {
    begin 'import signal, time
signal.signal(signal.SIGUSR2, lambda *_: print("handled"))
print("ready"); time.sleep(60)' || return
    kill -USR2 "$program" && says handled && kill "$program" && [ ! -e "$work/at.pb.gz.1" ]
}
check "a program that handles SIGUSR2 itself keeps its handler" own_handler_stays
forked_child_writes_none() {
    begin 'import os, signal, time
child = os.fork()
if child == 0: time.sleep(60)
print("ready"); os.kill(child, signal.SIGUSR2); time.sleep(0.5); os.kill(child, signal.SIGTERM)
print("child", os.wait()[1])' || return
    says 'child 15' && wait "$program" && [ -e "$work/at.pb.gz" ] && [ ! -e "$work/at.pb.gz.1" ]
}
check "a signal to a forked child writes nothing over its parent's profiles" forked_child_writes_none

gcc -std=gnu11 -O1 -fno-builtin -pthread -Wall -Wextra -Werror -o "$work/signalled" "$root/tests/profile/signalled.c"
signalled() {
    rm -f "$work"/signalled.*
    ALLOD_PROFILE="$work/signalled.%p,every=1B,signal=SIGUSR2" on_allod timeout -k 2 60 "$work/signalled" "$1" "$work/signalled"
}
check "while a profile waits for a pipe's reader, and another for it, the program goes on" signalled slow
check "a profile that waits for its turn and then for a pipe's reader keeps no thread that allocates" signalled unread
check "a pipe's reader that goes early does not end the program" signalled left
check "a child that is forked meanwhile writes its own" signalled forked
check "a child that is forked later begins with number 1" signalled counts
is_reported_meanwhile() {
    ALLOD_GUARD=1/1 signalled reported 2>"$work/err"
    cat "$work/err"
    grep -q '^allod: out of bounds (overflow): write' "$work/err"
}
check "a wrong access is reported meanwhile" is_reported_meanwhile
check "a thread that is to be cancelled is not while it writes one" signalled cancelled

gcc -std=gnu11 -O1 -Wall -Wextra -Werror -o "$work/twice" "$root/tests/profile/twice.c"
last_of_two_counts() {
    "$work/twice" "$so" /bin/true "$work/a-longer-name.gz" "$work/last" || return
    [ -e "$work/last" ] && [ "$(find "$work" -name 'last*' | wc -l)" -eq 1 ]
}
check "of two settings of one name the last counts, whole" last_of_two_counts

is_gzip() { gzip -t "$work/heap.pb.gz"; }
check "the file is gzip" is_gzip

# is_named WORDS VALUE: said once, and the program runs as ever.
is_named() {
    ALLOD_PROFILE=$2 "$work/known" >"$work/out" 2>"$work/err" || return
    cat "$work/err"
    [ "$(grep -c '^allod: ' "$work/err")" -eq 1 ] && grep -q "^allod: .*$1" "$work/err"
}
check "a folder that is not there is named" is_named 'cannot write .*no such folder' "$work/no/heap.pb.gz"
check "a folder in a file's place is named" is_named 'cannot write .*it is a folder' "$work"
check "a full disk is named" is_named 'cannot write .*no space left' /dev/full
for signal in '' SIGKILL USR2 12; do
    check "signal=$signal is named" is_named 'ignored; it takes FILE' "$work/heap.pb.gz,signal=$signal"
done
for every in 0 often -1 1KB ''; do
    check "every=$every is named" is_named 'ignored; it takes FILE' "$work/heap.pb.gz,every=$every"
done

# Perl's own functions are found, and the profile costs little.
instructions() {
    env LD_PRELOAD="$so" PERL_HASH_SEED=0 "$@" valgrind --tool=callgrind --callgrind-out-file=/dev/null perl -e \
        'my @a; for my $i (1 .. 30000) { push @a, join(",", map { $_ * $i } 1 .. 5); $#a = 100 if @a > 1000 }
         print scalar @a' 2>&1 >/dev/null | sed -n 's/.*Collected : //p'
}
costs_little() {
    local plain profiled
    plain=$(instructions)
    profiled=$(instructions ALLOD_PROFILE="$work/perl.pb.gz")
    echo "perl: $plain instructions without a profile, $profiled with one"
    [ $((profiled - plain)) -le $((plain / 50)) ]
}
have valgrind valgrind
check "a profile costs perl at most 2 % of its instructions" costs_little
