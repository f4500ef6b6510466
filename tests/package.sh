#!/usr/bin/env bash
# The crates can be published: each package is whole, has what a registry asks for, and builds from what is in it, together with the
# other packages. The command installs from its packages, sets itself up, and works once they are gone. Publishes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)

# In the order in which they would be published.
crates=(allod-os allod-unwind allod-heap allod-metrics allod-frame-core allod-region-derive allod-region allod-frame allod-frame-tokio allod)
engines=(allod-frame-bevy allod-frame-rapier)
# The command and its parts.
command=(allod-capi allod-trace-core allod-trace allod-record allod-scheme-datum allod-scheme allod-scheme-runtime allod-lab
    allod-profile allod-top allod-peers allod-frame-full allod-suites allod-cli)
all=("${crates[@]}" "${engines[@]}" "${command[@]}")

work=$(mktemp -d "${TMPDIR:-/tmp}/allod-package.XXXXXX")
trap 'rm -rf "$work"' EXIT

cargo package --quiet --locked --allow-dirty --no-verify "${all[@]/#/--package=}"
mkdir "$work/.cargo" "$work/packages"
echo '[patch.crates-io]' >"$work/.cargo/config.toml"
for crate in "${all[@]}"; do
    tar -xzf "${CARGO_TARGET_DIR:-target}/package/$crate-$version.crate" -C "$work/packages"
    package=$work/packages/$crate-$version
    for field in description keywords categories repository license rust-version; do
        grep -q "^$field = " "$package/Cargo.toml" || { echo "not ok $crate has no $field"; exit 1; }
    done
    [ -s "$package/README.md" ] || { echo "not ok $crate has no README.md"; exit 1; }
    echo "$crate = { path = \"$package\" }" >>"$work/.cargo/config.toml"
    echo "ok $crate says what a registry asks for"
done

# From here on, all below the folder find the packages where the registry would have them. What comes from others has been
# downloaded for the workspace.
export CARGO_NET_OFFLINE=true XDG_DATA_HOME=$work/data XDG_CACHE_HOME=$work/cache CARGO_TARGET_DIR=$work/target
cd "$work"

# Not those for engines, whose own tests build them.
for crate in "${crates[@]}"; do
    (cd "packages/$crate-$version" && cargo check --quiet)
    echo "ok $crate builds from its package"
done

# check NAME COMMAND…: says whether the command succeeds, and ends if it does not.
check() {
    "${@:2}" >"$work/said" 2>&1 || { cat "$work/said"; echo "not ok $1"; exit 1; }
    echo "ok $1"
}

allod=$work/root/bin/allod
on_library() {
    "$allod" run "${@:2}" -- cat /proc/self/maps >maps && grep -F "/$1" maps
}
wants_setup() {
    ! "$allod" "$@" && grep -qF "run \`allod setup\`" "$work/said"
}
says_hello() {
    echo '(import (scheme base) (scheme write)) (display "hello")' >hello.scm
    [ "$("$allod" scheme hello.scm)" = hello ]
}
lists() {
    "$allod" bench "$1" --list >list && grep -w "$2" list
}

# Not optimised, which would take several times as long.
check "the command installs from its packages" cargo install --quiet --debug --path "packages/allod-cli-$version" --root root --no-track
rm -rf target
check "without its library, \`allod run\` says what to do" wants_setup run -- true
check "so does \`allod scheme\`" wants_setup scheme /dev/null
check "\`allod setup\` builds the libraries" "$allod" setup
rm -rf packages
check "\`allod run\` finds its library" on_library liballod.so
check "\`allod run --hardened\` finds its library" on_library liballod-hardened.so --hardened
check "\`allod scheme\` compiles and runs a program" says_hello
check "\`allod record\` records" "$allod" record -o true.trace -- true
check "\`allod bench heap\` lists its workloads" lists heap trace-git
check "\`allod bench frame\` lists its workloads" lists frame single-64
check "\`allod bench heap\` finds its programs, traces and peers" \
    "$allod" bench heap --quick --no-store --only trace-git,allod,mimalloc
