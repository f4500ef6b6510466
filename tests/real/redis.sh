#!/usr/bin/env bash
# redis under its own benchmark client, saving in the background (fork) and answering.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

have redis-server redis-server redis-tools
socket=$work/redis.sock

ask() {
    redis-cli -s "$socket" "$@"
}

start() {
    on_allod redis-server --port 0 --unixsocket "$socket" --dir "$work" --save '' \
        --daemonize no --io-threads 2 >"$work/redis.log" 2>&1 &
    server=$!
    for _ in $(seq 100); do
        ask ping >/dev/null 2>&1 && return
        sleep 0.1
    done
    cat "$work/redis.log"
    return 1
}

benchmark() {
    redis-benchmark -s "$socket" -q -n 20000 -r 10000 -d 200 -P 8 \
        -t set,get,incr,lpush,rpop,sadd,hset,spop,zadd,lrange_100,mset >"$work/benchmark" 2>&1
    cat "$work/benchmark"
    [ "$(grep -c 'requests per second' "$work/benchmark")" -ge 10 ] &&
        ! grep -qi error "$work/benchmark"
}

holds_what_was_stored() {
    local i
    for i in $(seq 200); do
        printf 'SET stored:%d %0*d\n' "$i" $((i * 13 % 3000 + 1)) "$i"
    done | ask >/dev/null
    for i in $(seq 200); do
        printf 'GET stored:%d\n' "$i"
    done | ask >"$work/answers"
    for i in $(seq 200); do
        printf '%0*d\n' $((i * 13 % 3000 + 1)) "$i"
    done | diff - "$work/answers"
}

saves_in_a_child() {
    ask bgsave
    for _ in $(seq 100); do
        ask info persistence | grep -q '^rdb_bgsave_in_progress:0' && break
        sleep 0.1
    done
    ask info persistence | grep '^rdb_last_bgsave_status:ok'
}

runs_on_allod() {
    local pid
    pid=$(ask info server | tr -d '\r' | sed -n 's/^process_id://p')
    grep -q "$prefix/lib/liballod.so" "/proc/$pid/maps"
}

stops() {
    ask shutdown nosave
    wait "$server"
}

check "redis-server finds malloc in Allod" uses_allod redis-server redis-server --version
check "redis starts" start
check "the running server has Allod loaded" runs_on_allod
check "redis holds what was stored" holds_what_was_stored
check "redis-benchmark ends without errors" benchmark
check "redis saves in a forked child" saves_in_a_child
check "redis holds what was stored after the benchmark" holds_what_was_stored
check "redis stops" stops
