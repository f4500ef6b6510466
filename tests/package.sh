#!/usr/bin/env bash
# The crates that users depend on can be published: each package is whole, has what a registry asks for, and builds from what
# is in it, together with the other packages. Publishes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

# In the order in which they would be published.
crates=(allod-os allod-unwind allod-heap allod-metrics allod-frame-core allod-region-derive allod-region allod-frame allod-frame-tokio allod)

for crate in "${crates[@]}" allod-frame-bevy allod-frame-rapier; do
    manifest=crates/${crate#allod-}/Cargo.toml
    for field in description keywords categories repository license rust-version; do
        grep -q "^$field" "$manifest" || { echo "not ok $crate has no $field"; exit 1; }
    done
    [ -s "$(dirname "$manifest")/README.md" ] || { echo "not ok $crate has no README.md"; exit 1; }
    echo "ok $crate says what a registry asks for"
done

# Builds each package from its archive; not those for engines, whose own tests build them.
cargo package --quiet --locked --allow-dirty "${crates[@]/#/--package=}"
engines=(allod-frame-bevy allod-frame-rapier)
cargo package --quiet --locked --allow-dirty --no-verify "${crates[@]/#/--package=}" "${engines[@]/#/--package=}"
for crate in "${crates[@]}"; do
    echo "ok $crate is packaged and builds"
done
