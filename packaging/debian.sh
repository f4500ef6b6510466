#!/bin/sh
# Makes a Debian package of Allod: packaging/debian.sh FOLDER puts allod_VERSION_ARCH.deb into the folder.
set -eu

usage() {
    echo "usage: packaging/debian.sh FOLDER" >&2
    exit 2
}

if [ $# -ne 1 ] || [ ! -d "$1" ]; then usage; fi
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
arch=$(dpkg --print-architecture)
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"

./install --prefix /usr --libdir "/usr/lib/$multiarch" --destdir "$stage" >/dev/null
gzip -9n "$stage"/usr/share/man/man1/*.1
cat LICENSE-MIT LICENSE-APACHE >"$stage/usr/share/doc/allod/copyright"
rm "$stage"/usr/share/doc/allod/LICENSE-*
mkdir "$stage/DEBIAN"
cat >"$stage/DEBIAN/control" <<END
Package: allod
Version: $version
Architecture: $arch
Maintainer: ${DEB_MAINTAINER:-The Allod developers <nobody@localhost>}
Installed-Size: $(du -sk "$stage/usr" | cut -f1)
Depends: libc6
Suggests: gcc, valgrind
Section: libs
Priority: optional
Description: memory system: malloc for any program, regions, frames, a laboratory
 Allod replaces malloc in any program (allod run -- PROGRAM), gives memory back while
 programs are idle, and measures allocators against each other. This package holds
 the libraries, headers, the command allod, its manual pages and completions.
END
# The linker's cache knows the library at once.
printf 'activate-noawait ldconfig\n' >"$stage/DEBIAN/triggers"
dpkg-deb --root-owner-group --build "$stage" "$folder/allod_${version}_$arch.deb"
