#!/usr/bin/env bash
# The numbers that programs read: glibc's malloc_info.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

have python3 python3

info() { python3 "$root/tests/statistics/malloc_info.py" "$1" "$work"; }

# What reads glibc's XML finds every element and attribute there, and no other.
has_glibcs_form() {
    info shape >"$work/glibc" && on_allod python3 "$root/tests/statistics/malloc_info.py" shape "$work" >"$work/allod" &&
        grep -q '^/malloc/heap/sizes/size ' "$work/glibc" && diff "$work/glibc" "$work/allod"
}
check "malloc_info has the elements and attributes of glibc's" has_glibcs_form
for what in sums refusals; do
    check "malloc_info: $what" on_allod python3 "$root/tests/statistics/malloc_info.py" $what "$work"
done
