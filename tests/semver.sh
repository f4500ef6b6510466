#!/usr/bin/env bash
# The interfaces of the crates against the newest release: what would break users needs a new version, as Semantic
# Versioning says. Says what is missing and ends well before the first release (a tag such as v0.1.0), and where
# there is no cargo-semver-checks (`cargo install cargo-semver-checks --locked`).
set -euo pipefail
cd "$(dirname "$0")/.."

release=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null) || { echo "skipped: no release yet"; exit 0; }
cargo semver-checks --version >/dev/null 2>&1 || { echo "skipped: cargo install cargo-semver-checks --locked"; exit 0; }
for crate in allod-region allod-frame allod; do
    cargo semver-checks --package "$crate" --baseline-rev "$release"
    echo "ok $crate has the interface of $release, or the version to change it"
done
# Names that programs are linked to: the list only grows within a soname.
gone=$(git show "$release:crates/capi/exports" | LC_ALL=C comm -23 - crates/capi/exports)
if [ -n "$gone" ]; then
    echo "$gone"
    echo "not ok liballod.so lacks these names of $release: it wants a new soname"
    exit 1
fi
echo "ok liballod.so has all names of $release"
