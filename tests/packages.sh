#!/usr/bin/env bash
# The Debian package is made, holds what it should where a Debian system looks for it, installs, works, and goes without a
# trace. (packaging/Containerfile needs a registry of images; it is not built here.)
set -euo pipefail
. "$(dirname "$0")/lib.sh"

made() {
    "$root/packaging/debian.sh" "$work" && ls "$work"/allod_*.deb
}

holds() {
    dpkg-deb --contents "$work"/allod_*.deb >"$work/contents"
    local name
    for name in /usr/bin/allod /liballod.so.0 /usr/include/allod/heap.h /usr/share/man/man1/allod.1.gz \
        /usr/share/doc/allod/copyright /pkgconfig/allod.pc /usr/share/bash-completion/completions/allod; do
        grep -qF "$name" "$work/contents" || { echo "missing: $name"; return 1; }
    done
    # Everything belongs to root.
    ! awk '$2 != "root/root"' "$work/contents" | grep .
}

# In a file system of its own, so that the machine is not touched: unpacked, and run with its paths.
works() {
    dpkg-deb --extract "$work"/allod_*.deb "$work/root"
    [ "$("$work/root/usr/bin/allod" run -- sh -c 'echo allod')" = allod ] &&
        "$work/root/usr/bin/allod" compare --quick --no-store --only allod true
}

check "the Debian package is made" made
check "the Debian package holds what it should" holds
check "what the Debian package unpacks works" works
