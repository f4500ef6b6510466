#!/usr/bin/env bash
# One load on a redis-server that has the library SERVER_PRELOAD preloaded, if any: clients fill and read keys and lists.
# Prints nanoseconds=, for one request, and peak_kib=, the server's.
set -euo pipefail
folder=$(mktemp -d "${TMPDIR:-/tmp}/allod-redis.XXXXXX")
trap 'rm -rf "$folder"' EXIT

env ${SERVER_PRELOAD:+LD_PRELOAD="$SERVER_PRELOAD"} redis-server --port 0 --unixsocket "$folder/socket" --save '' \
    --dir "$folder" >"$folder/log" 2>&1 &
server=$!
for _ in $(seq 200); do
    redis-cli -s "$folder/socket" ping >/dev/null 2>&1 && break
    sleep 0.05
done
start=$(date +%s%N)
for _ in 1 2 3; do
    redis-benchmark -s "$folder/socket" -q -n 100000 -r 100000 -d 300 -P 16 -c 8 -t set,get,lpush,hset,zadd >/dev/null
    redis-benchmark -s "$folder/socket" -q -n 100000 -r 100000 -P 16 -c 8 del key:__rand_int__ >/dev/null
done
end=$(date +%s%N)
echo "nanoseconds=$(((end - start) / 1800000))"
sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/peak_kib=\1/p' "/proc/$server/status"
redis-cli -s "$folder/socket" shutdown nosave >/dev/null 2>&1 || true
wait "$server"
