#!/usr/bin/env bash
# PostgreSQL: initdb, start as a user of its own, fill with pgbench, transactions, queries, stop.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

# Debian keeps the server's programs out of PATH.
find_postgres() {
    bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
    [ -n "$bin" ] && [ -x "$bin/postgres" ] && [ -x "$bin/pgbench" ]
}

find_postgres || { apt_install postgresql postgresql-contrib && find_postgres; }
data=$work/data
install -d -o postgres -m 700 "$data"
install -d -o postgres -m 755 "$work/socket"

# as_postgres COMMAND...: on Allod, as the user postgres, with a plain environment.
as_postgres() {
    (cd / && setpriv --reuid postgres --regid postgres --clear-groups \
        env -i PATH="$bin:$PATH" LC_ALL=C LD_PRELOAD="$so" PGHOST="$work/socket" "$@")
}

start() {
    as_postgres pg_ctl -D "$data" -l "$data/log" -w -t 60 \
        -o "-k $work/socket -c listen_addresses='' -c shared_buffers=64MB -c fsync=off" start ||
        { cat "$data/log"; return 1; }
}

runs_on_allod() {
    grep -q "$so" "/proc/$(head -n 1 "$data/postmaster.pid")/maps"
}

query() {
    as_postgres psql -X -A -t -v ON_ERROR_STOP=1 -d postgres -c "$1"
}

answers() {
    local answer
    answer=$(query "
        SELECT count(*), sum(length(md5(i::text))), max(i) FROM generate_series(1, 200000) i;
        SELECT count(DISTINCT substr(md5(i::text), 1, 3)) FROM generate_series(1, 100000) i;
        SELECT length(string_agg(i::text, ',' ORDER BY md5(i::text))) FROM generate_series(1, 50000) i;
        SELECT count(*) FROM pgbench_accounts a JOIN pgbench_branches b USING (bid);") || return
    echo "$answer"
    [ "$answer" = "200000|6400000|200000
4096
288893
200000" ]
}

balanced() {
    [ "$(query "SELECT (SELECT sum(abalance) FROM pgbench_accounts) =
        (SELECT sum(bbalance) FROM pgbench_branches)")" = t ]
}

check "postgres finds malloc in Allod" uses_allod postgres "$bin/postgres" --version
check "initdb makes a cluster" as_postgres initdb -D "$data" -A trust --no-sync
check "postgres starts" start
check "the running server has Allod loaded" runs_on_allod
check "pgbench fills tables" as_postgres pgbench -q -i -s 2 postgres
check "pgbench runs transactions on four connections" as_postgres pgbench -c 4 -j 2 -t 400 postgres
check "queries give the right answers" answers
check "the books balance after the transactions" balanced
check "a dump can be made and read back" as_postgres sh -c \
    'createdb copy && pg_dump postgres | psql -X -q -v ON_ERROR_STOP=1 copy'
check "postgres stops" as_postgres pg_ctl -D "$data" -m fast -w stop
