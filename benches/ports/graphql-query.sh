#!/usr/bin/env bash
# graphql-query, a parser, validator and printer of GraphQL: from bumpalo to frames.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

version=1.0.1
patch=$here/graphql-query/port.patch
# What the crate depends on is built once for all runs.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}/ports

# prepare FOLDER: this crate's program to measure; its benchmark of other parsers is not built to test it.
prepare() {
    mkdir "$1/examples"
    cp "$here/graphql-query/documents.rs" "$1/examples"
    printf '\n[[example]]\nname = "documents"\npath = "examples/documents.rs"\n' >>"$1/Cargo.toml"
    # Pinned to another compiler, which the crate does not need.
    rm "$1/rust-toolchain.toml"
    [ -n "${MEASURE:-}" ] && return
    sed -i '/^\[\[bench\]\]/,/^$/d' "$1/Cargo.toml"
    (cd "$1" && cargo remove --quiet --dev apollo-parser async-graphql-parser graphql-parser bencher)
}

depend_on_frames() {
    (cd "$1" && cargo remove --quiet bumpalo && cargo add --quiet --path "$root/crates/frame" &&
        cargo add --quiet allocator-api2@0.2)
}

own_tests() {
    (cd "$1" && cargo test --quiet --lib)
}

# A document that is parsed, validated and printed, a thousand times.
documents() {
    (cd "$1" && cargo run --quiet --example documents fresh 1000 && cargo run --quiet --example documents kept 1000)
}

# own_benchmark FOLDER: the medians of the crate's own benchmark, in five turns.
own_benchmark() {
    local rows='graphql_query_rs|validate|fold|introspection'
    for _ in 1 2 3 4 5; do
        (cd "$1" && cargo bench --quiet --bench parser -- graphql) | grep -E "$rows"
    done | sed -E 's/^test ([a-z_]+) .* ([0-9,]+) ns.iter.*/\1 \2/; s/,//g' | sort -k1,1 -k2,2n |
        awk '{ if ($1 != name) n = 0; name = $1; n++ } n == 3 { print "    " $1, $2, "ns" }'
}

measure() {
    for variant in before after; do
        (cd "$work/$variant" && cargo build --quiet --release --example documents)
        cp "$CARGO_TARGET_DIR/release/examples/documents" "$work/documents-$variant"
    done
    for how in fresh kept; do
        echo "== a context for each document, or one that is reset: $how"
        allod ab --no-store --a "program:$work/documents-before" --b "program:$work/documents-after" \
            --result nanoseconds "$work/documents-before" "$how" 50000
    done
    for variant in before after; do
        echo "== the crate's own benchmark, $variant"
        own_benchmark "$work/$variant"
    done
}

crate_source graphql-query "$version" "$work/before"
prepare "$work/before"
cp -r "$work/before" "$work/after"
check "graphql-query passes its own tests on bumpalo" own_tests "$work/before"
check "the patch for graphql-query applies" port "$patch" "$work/after"
check "graphql-query depends on allod-frame" depend_on_frames "$work/after"
check "graphql-query passes its own tests on frames" own_tests "$work/after"
check "graphql-query on frames parses, validates and prints" documents "$work/after"
changed "$patch"
[ -z "${MEASURE:-}" ] || measure
