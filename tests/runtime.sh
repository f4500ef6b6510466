#!/usr/bin/env bash
# operator new finds the C++ runtime of whoever calls it: GNU's or LLVM's, linked or loaded late, and
# says so when there is none.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

have clang++ clang
[ -e /usr/include/c++/v1/new ] || [ -n "$(find /usr/lib/llvm-*/include/c++/v1/new 2>/dev/null)" ] ||
    apt_install libc++-dev libc++abi-dev

warnings="-Wall -Wextra -Werror -O1 -fno-builtin"
# Options are several words on purpose.
# shellcheck disable=SC2086
{
    gcc -std=c11 $warnings -o "$work/host" "$root/tests/runtime/host.c" -ldl \
        -Wl,-z,dynamic-undefined-weak
    g++ -std=c++17 $warnings -shared -fPIC -o "$work/gnu.so" "$root/tests/runtime/plugin.cc"
    clang++ -std=c++17 $warnings -stdlib=libc++ -shared -fPIC -o "$work/llvm.so" \
        "$root/tests/runtime/plugin.cc"
    clang++ -std=c++17 $warnings -stdlib=libc++ -fsized-deallocation -pthread -o "$work/new_delete" \
        "$root/tests/cxx/new_delete.cc" -ldl
}

host_is_plain_c() {
    ! ldd "$work/host" | grep -E 'c\+\+|gcc_s'
}

says_that_there_is_no_runtime() {
    local status=0
    (ulimit -c 0 && on_allod "$work/host") 2>"$work/err" || status=$?
    cat "$work/err"
    [ "$status" -eq 134 ] && grep -q '^allod: out of memory in operator new' "$work/err"
}

check "the host has no C++ runtime" host_is_plain_c
check "a plug-in with GNU's runtime gets its exceptions" on_allod "$work/host" "$work/gnu.so"
check "a plug-in with LLVM's runtime gets its exceptions" on_allod "$work/host" "$work/llvm.so"
check "a program on LLVM's runtime passes the new and delete tests" on_allod "$work/new_delete"
check "without a runtime a failing new says so" says_that_there_is_no_runtime
