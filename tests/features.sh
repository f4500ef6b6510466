#!/usr/bin/env bash
# The features of frames leave nothing behind when they are off: instructions and sizes, counted in
# builds with and without each.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

have valgrind valgrind
# Optimising while linking takes most of the time, and nothing but the features' own code changes by it.
CARGO_PROFILE_RELEASE_LTO=off "$root/benches/price/run" --counts | tee "$work/table"

# field FEATURE COLUMN: of the table; allocation and frame in columns 4 and 6, sizes in 7.
field() {
    awk -F' *[|] *' -v feature="$1" -v column="$2" '$2 == feature { print $column }' "$work/table"
}

# at_most LIMIT COLUMN: of the build without features.
at_most() {
    awk -v limit="$1" -v count="$(field none "$2")" 'BEGIN { exit !(count > 5 && count <= limit) }'
}

# shows FEATURE: the feature can be seen in the counts, so its absence would be seen too.
shows() {
    awk -v with="$(field "$1" 4)" -v with_frame="$(field "$1" 6)" -v without="$(field none 4)" \
        -v without_frame="$(field none 6)" \
        'BEGIN { exit !(with >= without && with_frame > without_frame) }'
}

case $(uname -m) in
    x86_64)
        check "without features an allocation of 64 written bytes takes 20 instructions" at_most 20 4
        check "without features a frame with an allocation takes 15 instructions" at_most 15 6
        ;;
esac
check "without features frame and guard are 4 words, and a checkpoint 5" \
    grep -qE '^\| none .*\| 32, 32, 40, ' "$work/table"
for feature in stats tags budgets behaviour tracing canaries asan,valgrind; do
    check "the counts show whether $feature is on" shows "$feature"
done
