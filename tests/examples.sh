#!/usr/bin/env bash
# The programs in examples/ are built by their Makefile and by cargo, and do what they are to show.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

have pkg-config pkg-config
have curl curl

made() {
    make -s -C "$root/examples" PKG_CONFIG_PATH="$prefix/lib/pkgconfig" OUT="$work/built" \
        CFLAGS="-O1 -Wall -Wextra -Werror" CXXFLAGS="-O1 -Wall -Wextra -Werror" "$@"
}

# Sets $rust to the folder that cargo builds programs into.
build_rust() {
    cargo build --quiet --locked --profile checked --manifest-path "$root/Cargo.toml" -p allod-examples
}
rust=${CARGO_TARGET_DIR:-$root/target}/checked

# endpoint PROGRAM: a client gets numbers, which are more when the next one asks than nothing.
endpoint() {
    local address server
    "$1" >"$work/address" &
    server=$!
    for _ in $(seq 50); do
        [ -s "$work/address" ] && break
        sleep 0.1
    done
    address=$(cat "$work/address")
    curl -sf --max-time 10 "$address" >"$work/numbers" || { kill $server; return 1; }
    kill $server
    cat "$work/numbers"
    python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["held_bytes"] > 0' "$work/numbers"
}

check "the Makefile builds the examples" made
check "cargo builds the examples" build_rust
for program in "$root"/examples/c/*.c "$root"/examples/cxx/*.cc "$root"/examples/rust/src/bin/*.rs; do
    name=${program##*/}
    case $program in
        *.c) built=$work/built/c/${name%.*} ;;
        *.cc) built=$work/built/cxx/${name%.*} ;;
        *) built=$rust/${name%.*} ;;
    esac
    case $name in
        statistics_endpoint.*) check "$name answers" endpoint "$built" ;;
        *) check "$name shows what it is to show" timeout 60 "$built" ;;
    esac
done
