#!/usr/bin/env bash
# aarch64, as far as a machine of another kind can try it: everything compiles without a warning, the library
# links, and, where there is QEMU, programs run on it. Says what is missing and ends well where there is no
# cross compiler (`rustup target add aarch64-unknown-linux-gnu`; Debian: gcc-aarch64-linux-gnu,
# qemu-user-static).
#
# QEMU 7.2 ignores MADV_DONTNEED where MREMAP_DONTUNMAP has moved pages away, so nothing is run here that grows
# large blocks; nor what starts programs or counts the memory of the process, which are QEMU's there.
set -euo pipefail
cd "$(dirname "$0")/.."
target=aarch64-unknown-linux-gnu
sysroot=/usr/aarch64-linux-gnu
programs=(alignment glibc_names libc_users malloc_semantics)

rustc --print target-libdir --target $target | xargs -I{} test -d {} ||
    { echo "skipped: rustup target add $target"; exit 0; }
command -v aarch64-linux-gnu-gcc >/dev/null || { echo "skipped: no aarch64-linux-gnu-gcc"; exit 0; }
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64-static -L $sysroot"

cargo clippy --locked --target $target -p allod-os -p allod-heap -p allod-frame -p allod-region -p allod \
    -p allod-capi -- -D warnings
cargo build --release --locked --target $target -p allod-capi
command -v qemu-aarch64-static >/dev/null || { echo "nothing is run: no qemu-aarch64-static"; exit 0; }
cargo test --profile checked --locked --target $target -p allod-os
# All promises but the one that looks at resident memory.
cargo test --profile checked --locked --target $target -p allod-heap --test promises -- --skip idle

so=$PWD/${CARGO_TARGET_DIR:-target}/$target/release/liballod.so
case ${CARGO_TARGET_DIR:-} in /*) so=$CARGO_TARGET_DIR/$target/release/liballod.so ;; esac
work=$(mktemp -d "${TMPDIR:-/tmp}/allod-aarch64.XXXXXX")
trap 'rm -rf "$work"' EXIT
for name in "${programs[@]}"; do
    aarch64-linux-gnu-gcc -O1 -fno-builtin -std=c11 -pthread "tests/c/$name.c" -o "$work/$name" -ldl
    qemu-aarch64-static -L $sysroot -E LD_PRELOAD="$so" -E ALLOD_VERBOSE=1 "$work/$name" 2>"$work/log" ||
        { cat "$work/log"; exit 1; }
    grep '^allod: version .* serves process' "$work/log"
    echo "ok $name"
done
