#!/usr/bin/env bash
# The crates that users depend on build with the oldest Rust that they name (rust-version in Cargo.toml). Says what is
# missing and ends well where that compiler is not there (`rustup toolchain install VERSION --profile minimal`).
set -euo pipefail
cd "$(dirname "$0")/.."
oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)

cargo "+$oldest" --version >/dev/null 2>&1 || { echo "skipped: rustup toolchain install $oldest"; exit 0; }
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/rust-$oldest
cargo "+$oldest" check --quiet --locked -p allod-os -p allod-heap -p allod-frame-core -p allod-region -p allod-region-derive \
    -p allod-frame -p allod-frame-tokio -p allod -p allod-capi --features allod/region,allod/frame,allod/budgets,allod/behaviour
# (Programs that must not compile are tested with one compiler: each words its messages differently.)
cargo "+$oldest" test --quiet --locked -p allod --features region,frame --test global --test heap --test settings
echo "ok Rust $oldest builds the crates"
