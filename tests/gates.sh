#!/usr/bin/env bash
# The compile gates leave no trace in a default build: shown by building liballod.so with and
# without them and comparing both.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

have objdump binutils

# build NAME FEATURES: builds liballod.so with features of the heap.
build() {
    cargo build --quiet --locked --release --manifest-path "$root/Cargo.toml" --package allod-capi \
        --target-dir "$root/target/gates" --features "$2"
    cp "$root/target/gates/release/liballod.so" "$work/$1.so"
}

# length LIBRARY FUNCTION: instructions in a function.
length() {
    local start size
    read -r start size < <(nm -D -S "$1" | awk -v name="$2" '$4 == name {print "0x" $1, "0x" $2}')
    objdump -d --no-show-raw-insn --start-address=$((start)) --stop-address=$((start + size)) "$1" |
        grep -c '^ '
}

# longer FUNCTION: counting shows in the code of the function, so its absence would show too.
longer() {
    local plain counting
    plain=$(length "$so" "$1")
    counting=$(length "$work/stats.so" "$1")
    echo "$1: $plain instructions, $counting with stats"
    [ "$plain" -gt 0 ] && [ "$counting" -gt "$plain" ]
}

# unknown LIBRARY: true if the library does not know the name of a knob.
unknown() {
    env ALLOD_BAND_B4=0 LD_PRELOAD="$1" "$work/hundred" 2>&1 | grep -q 'unknown setting ALLOD_BAND_B4'
}

only_with_knobs() {
    unknown "$so" && ! unknown "$work/knobs.so"
}

# report LIBRARY: the line of the 112-byte class in the report at exit.
report() {
    env ALLOD_STATS=1 LD_PRELOAD="$1" "$work/hundred" 2>&1 | awk '$2 == 112'
}

counts_exactly() {
    report "$work/stats.so"
    report "$work/stats.so" | awk '{exit !($(NF-1) == 1000 && $NF == 1000)}'
}

counts_nothing() {
    report "$so" | awk '{exit !($(NF-1) == "-" && $NF == "-")}'
}

cat >"$work/hundred.c" <<'END'
#include <stdlib.h>
int main(void) {
    for (int i = 0; i < 1000; i++) {
        void *volatile block = malloc(100);
        free(block);
    }
}
END
gcc -O1 -fno-builtin -o "$work/hundred" "$work/hundred.c"

build stats allod-heap/stats
build knobs allod-heap/knobs
for function in malloc free; do
    check "counters stand in $function with the feature stats only" longer "$function"
done
check "with stats the report counts exactly" counts_exactly
check "without stats the report has no counts" counts_nothing
check "a library without the feature knobs does not know them" only_with_knobs
