#!/usr/bin/env bash
# Regions in C beyond what tests/programs.sh does: the C of docs/regions.md, sanitizers, a library that
# catches wrong use, and the threads of tests/stress.rs under ThreadSanitizer.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

have clang clang
options="-O1 -g -std=c11 -Wall -Wextra -Werror -pthread -I$prefix/include"
shared="-L$prefix/lib -lallod -Wl,-rpath,$prefix/lib -ldl"

# shellcheck disable=SC2016  # backquotes of Markdown
# What a compiler should emit compiles, and does what the text says.
documented() {
    sed -n '/^```c form.c$/,/^```$/{/^```/!p}' "$root/docs/regions.md" >"$work/documented.c"
    grep -q 'int main' "$work/documented.c" || return 1
    # Options are several words on purpose, here and below.
    # shellcheck disable=SC2086
    "$1" $options "$work/documented.c" -o "$work/documented" $shared && "$work/documented"
}
check "the C of docs/regions.md, gcc" documented gcc
check "the C of docs/regions.md, clang" documented clang

# sanitized SANITIZER SOURCE: the program built with a sanitizer of gcc and linked with liballod.so. The
# sanitizer's malloc is the program's; regions have their memory from Allod all the same. ASan knows
# nothing of what is inside a region; it watches the header's and the program's own accesses.
sanitized() {
    # shellcheck disable=SC2086
    gcc $options -fsanitize="$1" -fno-sanitize-recover=all "$root/tests/c/$2.c" -o "$work/$2" $shared &&
        timeout 120 "$work/$2"
}
check "region_h under ASan and UBSan" sanitized address,undefined region_h
check "region_h under TSan" sanitized thread region_h
check "region_lisp under ASan and UBSan" sanitized address,undefined region_lisp

# A library that catches wrong use: for testing compilers. Without link-time optimisation it would ask for
# parts of the standard library.
CARGO_PROFILE_CHECKED_LTO=fat cargo build --quiet --profile checked --locked --package allod-capi --features validate \
    --manifest-path "$root/Cargo.toml"
target=${CARGO_TARGET_DIR:-$root/target}
mkdir "$work/validate"
cp "$target/checked/liballod.so" "$work/validate/"
ln -s liballod.so "$work/validate/$(objdump -p "$so" | sed -n 's/^ *SONAME *//p')"
validated="-L$work/validate -lallod -Wl,-rpath,$work/validate -ldl"
# shellcheck disable=SC2086
gcc $options "$root/tests/regions/misuse.c" -o "$work/misuse" $validated

# caught CASE WORDS: the case ends the program, and is called misuse with these words.
caught() {
    local status=0
    "$work/misuse" "$1" >"$work/said" 2>&1 || status=$?
    cat "$work/said"
    [ "$status" -ge 128 ] && grep -q "^allod region: misuse: .*$2" "$work/said"
}
check "caught: exit twice" caught "exit twice" "exit twice"
check "caught: release below zero" caught "release too often" "without its retain"
check "caught: use after reclaim" caught "use after reclaim" "not open any more"
check "caught: a store past the barrier" caught "past the barrier" "still reachable (from a pair)"
check "caught: such a store, deep in a dictionary" \
    caught "past the barrier in a dictionary" "still reachable (from a pair)"
check "caught: a global that points into what was left" caught "global left behind" "still reachable"
check "not caught: right use" "$work/misuse" right

# The whole Lisp with the closure rule proven at each exit, some forms instead of a million.
validated_lisp() {
    # shellcheck disable=SC2086
    gcc $options -DFORMS=20000 "$root/tests/c/region_lisp.c" -o "$work/lisp" $validated &&
        timeout 120 "$work/lisp"
}
check "region_lisp with the closure rule proven at each exit" validated_lisp

# All of Allod's own code instrumented; the standard library is not, and takes no part.
threads() {
    RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer" \
        cargo +nightly test --quiet --profile checked --package allod-region --test stress \
        --target "$(uname -m)-unknown-linux-gnu" --target-dir "$target/tsan" \
        --manifest-path "$root/Cargo.toml"
}
if ls "$(rustc +nightly --print sysroot 2>/dev/null)"/lib/rustlib/*/lib/librustc*_rt.tsan.a \
    >/dev/null 2>&1; then
    check "threads that share and send regions, under ThreadSanitizer" threads
else
    echo "(no nightly Rust with ThreadSanitizer here: that test is left out)"
fi
