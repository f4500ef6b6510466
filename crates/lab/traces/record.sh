#!/usr/bin/env bash
# Records the traces in this folder again: a Python script, a C++ compiler, git with two threads.
#
#   crates/lab/traces/record.sh target/release/allod
set -euo pipefail
allod=$(realpath "${1:?say where the command allod is}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/allod-traces.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >catalogue.py <<'END'
import json, re

items = [{"id": i, "name": f"item {i}", "tags": ["even" if i % 2 == 0 else "odd", str(i % 7)],
          "price": i * 1.25} for i in range(4000)]
text = json.dumps(items)
again = json.loads(text)
by_tag = {}
for item in again:
    for tag in item["tags"]:
        by_tag.setdefault(tag, []).append(item["name"].upper())
words = re.findall(r"[a-z]+ \d+", text)
print(len(text), len(words), sorted((tag, len(names)) for tag, names in by_tag.items())[:3])
END
# Python's own allocator would hide its small objects.
PATH=/usr/bin:$PATH PYTHONMALLOC=malloc "$allod" record -o "$here/python.trace" -- python3 catalogue.py

cat >words.cpp <<'END'
#include <map>
#include <string>
#include <vector>

int main(int argc, char **argv) {
    std::map<std::string, std::vector<int>> places;
    for (int i = 1; i < argc; i++) places[argv[i]].push_back(i);
    std::size_t most = 0;
    for (const auto &[word, where] : places) most = most < where.size() ? where.size() : most;
    return static_cast<int>(most);
}
END
g++ -std=c++20 -E words.cpp -o words.ii
compiler=$(g++ -print-prog-name=cc1plus)
PATH=$(dirname "$compiler"):$PATH "$allod" record -o "$here/compiler.trace" -- \
    cc1plus -quiet -fpreprocessed -std=c++20 -O1 words.ii -o words.s

git init --quiet history
cd history
git config user.name nobody
git config user.email nobody@localhost
for i in $(seq 1 200); do
    for file in a b c d e f; do
        seq "$i" $((i * 10 + 400)) | awk -v f="$file" '{ print f, $1 * 7919 % 1009 }' >"$file"
    done
    git add .
    git commit --quiet --message "step $i"
done
"$allod" record -o "$here/git.trace" -- \
    git -c pack.threads=2 pack-objects --quiet --revs --all --no-reuse-delta --window=20 ../pack >/dev/null </dev/null
