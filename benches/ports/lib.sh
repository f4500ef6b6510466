#!/usr/bin/env bash
# Shared by the ports. Each script takes a program as it was published, changes it by its patch, and runs the program's own
# tests before and after. With MEASURE set it compares the two as well.

# shellcheck source=tests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../tests/lib.sh"
# shellcheck disable=SC2034  # used by the scripts that read this file
here=$root/benches/ports

# crate_source NAME VERSION FOLDER: the sources of a crate, from the registry.
crate_source() {
    cargo new --quiet --vcs none "$work/fetch"
    cargo add --quiet --manifest-path "$work/fetch/Cargo.toml" "$1@=$2"
    cargo metadata --quiet --manifest-path "$work/fetch/Cargo.toml" --format-version 1 >"$work/metadata"
    local manifest
    manifest=$(tr ',' '\n' <"$work/metadata" | sed -n "s|^\"manifest_path\":\"\\(.*/$1-$2/Cargo.toml\\)\"\$|\\1|p")
    cp -r "$(dirname "$manifest")" "$3"
}

# debian_source PACKAGE FOLDER: the sources of a package as they came from its authors, from Debian's archive.
debian_source() {
    local lists=$work/lists apt
    mkdir -p "$lists/partial" "$2" "$work/$1.source"
    . /etc/os-release
    echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main" >"$work/sources.list"
    apt=(apt-get -qq -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$lists" -o "Dir::Cache=$work" -o APT::Sandbox::User=root)
    "${apt[@]}" update
    (cd "$work/$1.source" && "${apt[@]}" source --download-only "$1")
    tar -xf "$work/$1.source"/*.orig.tar.* -C "$2" --strip-components=1
}

# port PATCH FOLDER: changes the sources.
port() {
    patch --quiet --strip=1 --directory="$2" <"$1"
}

# changed PATCH: how many lines it takes away and adds.
changed() {
    awk '/^-[^-]/ || /^-$/ { gone++ } /^[+][^+]/ || /^[+]$/ { new++ }
        END { printf "%d lines taken away, %d added\n", gone, new }' "$1"
}
