#!/usr/bin/env bash
# musl, the other C library of Linux: the library builds, static and shared, and programs in C and Rust run on it. Says what is
# missing and ends well where there is no compiler for it (`rustup target add x86_64-unknown-linux-musl`; Debian: musl-tools).
#
# Left out are the programs that test glibc's own names and numbers, take the kernel's headers, or open glibc's libraries.
set -euo pipefail
cd "$(dirname "$0")/.."
target=x86_64-unknown-linux-musl
programs=(alignment fork frames heap_h libc_users malloc_semantics misuse_handler mixed_sizes region_fork region_h region_lisp
    short_threads stress thread_exit)

rustc --print target-libdir --target $target | xargs -I{} test -d {} || { echo "skipped: rustup target add $target"; exit 0; }
command -v musl-gcc >/dev/null || { echo "skipped: no musl-gcc (Debian: musl-tools)"; exit 0; }

work=$(mktemp -d "${TMPDIR:-/tmp}/allod-musl.XXXXXX")
trap 'rm -rf "$work"' EXIT
built=${CARGO_TARGET_DIR:-target}

# The archive, for static programs; __register_atfork is weak in it, as ./install makes it.
cargo build --quiet --release --locked --target $target -p allod-capi
cp "$built/$target/release/liballod.a" "$work"
objcopy --weaken-symbol=__register_atfork "$work/liballod.a"
# The shared library: Rust links musl statically unless told not to.
CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER=musl-gcc RUSTFLAGS="-C target-feature=-crt-static" cargo build --quiet --release --locked --target $target -p allod-capi \
    --target-dir "$built/musl-shared"
cp "$built/musl-shared/$target/release/liballod.so" "$work/liballod.so.0"
ln -s liballod.so.0 "$work/liballod.so"

# run NAME MODE: one program, linked in one of the ways that suit it, serves its blocks from Allod.
run() {
    local options=(-O1 -fno-builtin -std=c11 -pthread -Icrates/capi/include) preload=
    case $2 in
        preload) preload=$work/liballod.so options+=("-Wl,-z,dynamic-undefined-weak") ;;
        shared) options+=("-L$work" "-Wl,-rpath,$work") ;;
        static) options+=(-DALLOD_STATIC -static) ;;
    esac
    local libraries=()
    [ "$2" = shared ] && libraries=(-lallod)
    [ "$2" = static ] && libraries=("$work/liballod.a")
    musl-gcc "${options[@]}" "tests/c/$1.c" -o "$work/program" "${libraries[@]}"
    # By exec, so that nothing that is linked to glibc is given a library of musl's.
    (
        export ALLOD_VERBOSE=1
        [ -z "$preload" ] || export LD_PRELOAD=$preload
        exec "$work/program"
    ) >"$work/log" 2>&1 || { cat "$work/log"; echo "not ok $1 $2"; exit 1; }
    grep -q '^allod: version .* serves process' "$work/log" || { echo "not ok $1 $2 is not on Allod"; exit 1; }
    echo "ok $1 $2"
}

for name in "${programs[@]}"; do
    modes=$(sed -n 's/^.*modes: \([a-z ]*\).*$/\1/p' "tests/c/$name.c")
    for mode in ${modes:-preload shared static}; do
        [ "$mode" = archive ] || run "$name" "$mode"
    done
done

# Rust programs, which are static there, and linked by what comes with Rust: musl-gcc would start them wrongly.
cargo test --quiet --profile checked --locked --target $target -p allod-heap --test promises
cargo test --quiet --profile checked --locked --target $target -p allod --features region,frame --test global --test heap
echo "ok Rust programs"
