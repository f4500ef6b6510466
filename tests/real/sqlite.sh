#!/usr/bin/env bash
# SQLite: a long script of inserts, indexes, joins, updates, deletes and a vacuum.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

have sqlite3 sqlite3

cat >"$work/script.sql" <<'END'
CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, town INTEGER, score REAL);
CREATE TABLE town(id INTEGER PRIMARY KEY, name TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
  INSERT INTO town SELECT i, printf('town %04d', i) FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
  INSERT INTO person SELECT i, printf('name %d %s', i * 7919 % 150001, substr('abcdefghijklmnopqrstuvwxyz', 1 + i % 20)),
                            1 + i * 31 % 500, (i * 17 % 1000) / 7.0 FROM n;
CREATE INDEX by_name ON person(name);
CREATE INDEX by_town ON person(town, score);
SELECT town.name, count(*), round(sum(score), 3) FROM person JOIN town ON town.id = person.town
  GROUP BY town.id ORDER BY 3 DESC LIMIT 20;
UPDATE person SET name = name || ' the ' || id WHERE id % 3 = 0;
DELETE FROM person WHERE id % 7 = 1;
SELECT count(*), sum(length(name)), min(name), max(name) FROM person;
SELECT group_concat(name, ';') FROM (SELECT name FROM person WHERE name LIKE '%99%' ORDER BY name LIMIT 200);
SELECT json_group_array(json_object('id', id, 'name', name)) FROM (SELECT * FROM person ORDER BY id LIMIT 500);
WITH RECURSIVE fib(a, b) AS (SELECT 0, 1 UNION ALL SELECT b, a + b FROM fib LIMIT 80) SELECT max(a) FROM fib;
VACUUM;
PRAGMA integrity_check;
END

check "sqlite3 finds malloc in Allod" uses_allod sqlite sqlite3 --version
same_output "a database in memory gives the same answers" \
    sqlite3 :memory: ".read $work/script.sql"
same_output "a database in a file gives the same answers" \
    sh -c "rm -f '$work/db' && sqlite3 '$work/db' '.read $work/script.sql'"
