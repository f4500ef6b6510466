#!/usr/bin/env bash
# redis, a server: as it is, with liballod.so preloaded, under the clients of its own test suite.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

have redis-server redis-server redis-tools
have tclsh tcl
debian_source redis "$work/suite"
units=(unit/type/hash unit/type/string unit/keyspace unit/querybuf unit/lazyfree)
[ -z "${MEASURE:-}" ] || units+=(unit/type/list unit/type/zset unit/dump unit/expire unit/aofrw unit/maxmemory unit/sort unit/scan)

# own_tests WORD...: with Debian's programs in place of those that the suite would have built, the server started by these words.
own_tests() {
    local tool unit chosen=()
    for tool in cli benchmark check-aof check-rdb sentinel; do
        ln -sf "$(command -v "redis-$tool")" "$work/suite/src/redis-$tool"
    done
    printf '#!/bin/sh\nexec %s %s "$@"\n' "$*" "$(command -v redis-server)" >"$work/suite/src/redis-server"
    chmod 755 "$work/suite/src/redis-server"
    for unit in "${units[@]}"; do
        chosen+=(--single "$unit")
    done
    (cd "$work/suite" && ./runtest --clients 2 "${chosen[@]}")
}

measure() {
    local result
    for result in nanoseconds peak_kib; do
        echo "== $result of a request: before, and with liballod.so preloaded"
        allod ab --no-store --a SERVER_PRELOAD= --b "SERVER_PRELOAD=$so" --runs 5 --result "$result" "$here/redis/load.sh"
    done
}

check "redis passes its own tests as it is" own_tests
check "redis passes its own tests on Allod" own_tests env "LD_PRELOAD=$so"
echo "0 lines changed"
[ -z "${MEASURE:-}" ] || measure

