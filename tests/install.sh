#!/usr/bin/env bash
# What ./install puts down can be found and used: by pkg-config, by CMake, by the command, and after
# the tree was moved.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

have cmake cmake
have pkg-config pkg-config
have groff groff
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)

same() {
    echo "expected: $1"
    echo "found:    $2"
    [ "$1" = "$2" ]
}

soname() {
    readelf -d "$so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'
}

needed() {
    readelf -d "$so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | tr '\n' ' '
}

header_version() {
    printf '#include <allod/heap.h>\nALLOD_VERSION_MAJOR.ALLOD_VERSION_MINOR.ALLOD_VERSION_PATCH' |
        gcc -E -P -I"$prefix/include" - | tail -n 1 | tr -d ' '
}

# The names of the functions that programs may be linked to are those of crates/capi/exports: a name that is missing
# breaks programs that were linked to an earlier version, and wants a new soname; a new one is added there.
exports() {
    nm -D --defined-only "$so" | awk '{print $3}' | LC_ALL=C sort | diff "$root/crates/capi/exports" -
}

# No file says in which folder it was built. (The command does: it looks there for what is not installed.)
without_build_paths() {
    ! strings -a "$prefix"/lib/liballod.so "$prefix"/lib/liballod.a | grep -F -e "$root" -e "${CARGO_HOME:-$HOME/.cargo}"
}

# Libraries and headers in folders of a distribution's choice: everything finds them.
other_folders() {
    local there=$work/other
    (cd "$root" && ./install --prefix "$there" --libdir "$there/lib/x86_64-linux-gnu" --includedir "$there/include/sub") &&
        [ -f "$there/lib/x86_64-linux-gnu/liballod.so.$version" ] &&
        [ -f "$there/include/sub/allod/heap.h" ] &&
        [ "$(PKG_CONFIG_PATH=$there/lib/x86_64-linux-gnu/pkgconfig pkg-config --variable=libdir allod)" = \
            "$there/lib/x86_64-linux-gnu" ] &&
        cmake_project "$there" &&
        [ "$("$there/bin/allod" run -- sh -c 'echo allod')" = allod ]
}

cmake_project() {
    rm -rf "$work/cmake" && mkdir "$work/cmake"
    cat >"$work/cmake/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(test C CXX)
find_package(allod 0.1 CONFIG REQUIRED)
add_executable(shared main.c)
target_link_libraries(shared PRIVATE allod::allod)
add_executable(archive main.c)
target_link_libraries(archive PRIVATE allod::static)
add_executable(archive_cxx new.cc)
target_link_libraries(archive_cxx PRIVATE allod::static)
add_executable(static_cxx new.cc)
target_link_libraries(static_cxx PRIVATE allod::static -static)
END
    cat >"$work/cmake/main.c" <<'END'
#include <allod/heap.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    void *block = allod_malloc(100);
    if (allod_usable_size(block) < 100) return 1;
    free(block);
    puts(allod_version());
}
END
    cat >"$work/cmake/new.cc" <<'END'
#include <allod/heap.h>
#include <cstdint>
#include <new>
int main(int count, char **) {
    try {
        delete[] new char[static_cast<std::size_t>(PTRDIFF_MAX) - static_cast<std::size_t>(count)];
    } catch (...) {
        return 0;
    }
    return 1;
}
END
    cmake -S "$work/cmake" -B "$work/cmake/build" -DCMAKE_PREFIX_PATH="$1" &&
        cmake --build "$work/cmake/build" &&
        same "$version" "$("$work/cmake/build/shared")" &&
        same "$version" "$("$work/cmake/build/archive")" &&
        "$work/cmake/build/archive_cxx" &&
        "$work/cmake/build/static_cxx"
}

staged_install() {
    (cd "$root" && ./install --prefix /opt/allod --destdir "$work/stage") &&
        grep -qx 'prefix=/opt/allod' "$work/stage/opt/allod/lib/pkgconfig/allod.pc" &&
        [ -f "$work/stage/opt/allod/include/allod/heap.h" ]
}

# Manual pages without a mistake in them, and completions that offer the command's words.
pages_and_completions() {
    local page
    for page in allod allod-run allod-bench-heap allod-top; do
        [ -s "$prefix/share/man/man1/$page.1" ] || return
    done
    same "" "$(groff -man -z -ww "$prefix"/share/man/man1/*.1 2>&1)" &&
        grep -q compare "$prefix/share/zsh/site-functions/_allod" &&
        grep -q compare "$prefix/share/fish/vendor_completions.d/allod.fish" &&
        bash -n "$prefix/share/bash-completion/completions/allod"
}

refuses() {
    local status=0
    (cd "$root" && ./install "$@") >"$work/refused" 2>&1 || status=$?
    [ "$status" -eq 2 ] && grep -q '^install: ' "$work/refused"
}

check "pkg-config knows the version" same "$version" \
    "$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --modversion allod)"
check "the header names the library's version" same "$version" "$(header_version)"
check "the soname carries the major version" same "liballod.so.${version%%.*}" "$(soname)"
check "liballod.so needs the C library only" same "libc.so.6 " "$(needed)"
check "liballod.so exports the names it promises, and no others" exports
check "the libraries do not say where they were built" without_build_paths
check "CMake finds the package" cmake_project "$prefix"
cp -a "$prefix" "$work/moved"
check "CMake finds the package in a moved tree" cmake_project "$work/moved"
check "the installed command runs programs" same allod "$("$prefix/bin/allod" run -- sh -c 'echo allod')"
check "the program run by the command is on Allod" uses_allod sh sh -c :
check "manual pages and completions are installed" pages_and_completions
check "the licences are installed" test -s "$prefix/share/doc/allod/LICENSE-MIT" -a -s "$prefix/share/doc/allod/LICENSE-APACHE"
check "libraries and headers go where they are told to" other_folders
check "files can be staged for a package" staged_install
check "install without a prefix is refused" refuses
check "install with a relative prefix is refused" refuses --prefix here
check "install with libraries outside the prefix is refused" refuses --prefix /x --libdir /y
check "install with an unknown argument is refused" refuses --prefix /x --fast
