#!/usr/bin/env bash
# Compiles every program in tests/c and tests/cxx with gcc and clang, links it in each of the ways a
# user may, and runs it. A program that a way does not suit says so in a line `modes: ...`.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

have clang clang
have pkg-config pkg-config
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
warnings="-Wall -Wextra -Werror"

# compile COMPILER STANDARD SOURCE MODE PROGRAM
compile() {
    local options="-O1 -g -fno-builtin $warnings -std=$2 -pthread"
    case $2 in c++*) options="$options -fsized-deallocation" ;; esac
    # Options are several words on purpose.
    # shellcheck disable=SC2086,SC2046
    case $4 in
        preload) $1 $options "$3" -o "$5" -ldl -Wl,-z,dynamic-undefined-weak ;;
        shared)
            $1 $options "$3" -o "$5" $(pkg-config --cflags --libs allod) \
                -Wl,-rpath,"$prefix/lib" -ldl
            ;;
        archive)
            $1 $options -DALLOD_STATIC -I"$prefix/include" "$3" -o "$5" "$prefix/lib/liballod.a"
            ;;
        static)
            $1 $options -DALLOD_STATIC -static "$3" -o "$5" \
                $(pkg-config --static --cflags --libs allod)
            ;;
    esac
}

# execute MODE PROGRAM
execute() {
    if [ "$1" = preload ]; then
        on_allod timeout 120 "$2"
    else
        timeout 120 "$2"
    fi
}

compile_and_execute() {
    compile "$@" && execute "$4" "$5"
}

# program COMPILER STANDARD SOURCE: runs one source in all its modes.
program() {
    local modes mode
    modes=$(sed -n 's/^.*modes: \([a-z ]*\).*$/\1/p' "$3")
    for mode in ${modes:-preload shared archive static}; do
        check "$(basename "$3") $1 $mode" compile_and_execute "$1" "$2" "$3" "$mode" "$work/program"
    done
}

for source in "$root"/tests/c/*.c; do
    program gcc c11 "$source"
    program clang c11 "$source"
done
for source in "$root"/tests/cxx/*.cc; do
    program g++ c++17 "$source"
    program clang++ c++17 "$source"
done
