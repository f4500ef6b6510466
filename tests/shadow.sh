#!/usr/bin/env bash
# AddressSanitizer and valgrind's memcheck see misuse of a frame's memory, where it happens, in C and in
# Rust's unsafe code, and nothing else.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

have valgrind valgrind
misuse=$root/tests/shadow/misuse.c
flags=(-std=c11 -g -O1 -Wall -Wextra -Werror "-I$prefix/include")
link=("-L$prefix/lib" -lallod "-Wl,-rpath,$prefix/lib")
gcc "${flags[@]}" -fsanitize=address -o "$work/c-asan" "$misuse" "${link[@]}"
gcc "${flags[@]}" -DALLOD_VALGRIND -o "$work/c-memcheck" "$misuse" "${link[@]}"
cargo build --quiet --locked --profile checked --manifest-path "$root/Cargo.toml" \
    --package allod-frame --features asan,valgrind --example misuse
rust=$root/target/checked/examples/misuse
asan=$(gcc -print-file-name=libasan.so)
have clang++ clang
# clang's own run-time libraries are a package of their own, which it only recommends.
if ! echo 'int main() {}' | clang++ -x c++ -fsanitize=address -o "$work/probe" - 2>/dev/null; then
    apt_install "libclang-rt-$(clang++ -dumpversion | cut -d. -f1)-dev"
fi
clang++ -x c++ -std=c++17 "${flags[@]:1}" -fsanitize=address -o "$work/cxx-asan" "$misuse" -x none \
    "${link[@]}"

# Rust's stable compiler does not instrument; the runtime looks into the functions that it replaces.
c_asan() { env ASAN_OPTIONS=detect_leaks=0 "$work/c-asan" "$1"; }
cxx_asan() { env ASAN_OPTIONS=detect_leaks=0 "$work/cxx-asan" "$1"; }
rust_asan() { env ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$asan" "$rust" "$1"; }
c_memcheck() { valgrind -q --error-exitcode=9 "$work/c-memcheck" "$1"; }
rust_memcheck() { valgrind -q --error-exitcode=9 "$rust" "$1"; }

# seen REPORT COMMAND...: the command fails, and says REPORT first.
seen() {
    local report=$1
    shift
    ! "$@" >"$work/report" 2>&1 && grep -E 'ERROR|==[0-9]+== [A-Z]' "$work/report" | head -n 1 |
        tee /dev/stderr | grep -qE "$report"
}

for run in c_asan cxx_asan rust_asan c_memcheck rust_memcheck; do
    case $run in
        *asan) report=use-after-poison ;;
        *) report='Invalid read' ;;
    esac
    check "$run: frames used as they should be are left in peace" "$run" none
    for mistake in behind-the-end not-allocated after-rollback after-scope after-end; do
        check "$run sees a read: $mistake" seen "$report" "$run" "$mistake"
    done
done
check "rust_asan: memory used again is left in peace" rust_asan next-frame
check "rust_memcheck: memory used again is left in peace" rust_memcheck next-frame
for mistake in after-shrink after-thread-end; do
    check "c_asan sees a read: $mistake" seen use-after-poison c_asan "$mistake"
    check "c_memcheck sees a read: $mistake" seen 'Invalid read' c_memcheck "$mistake"
done
check "rust_asan sees a read of a block that was freed within its frame" seen use-after-poison \
    rust_asan freed-block
check "rust_memcheck sees it too" seen 'Invalid read' rust_memcheck freed-block
check "rust_memcheck sees a value that was not initialised" seen uninitialised rust_memcheck \
    not-initialised
