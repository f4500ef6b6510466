#!/usr/bin/env bash
# CPython: a part of its own standard-library tests, and a program with compared output. Its own
# small-object allocator is switched off, so that every object is a block of Allod's.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

export PYTHONMALLOC=malloc
unset PYTHONPATH PYTHONHOME

# The interpreter itself, not a wrapper script; one that has the standard library's tests.
find_python() {
    python=$(python3 -c 'import sys; print(sys.executable)') &&
        "$python" -c 'import test.test_dict' 2>/dev/null && return
    apt_install python3 libpython3-testsuite
    python=/usr/bin/python3
    "$python" -c 'import test.test_dict'
}

find_python
cd "$work"

cat >"$work/program.py" <<'END'
import hashlib, json, re, threading, zlib

def words(count):
    state = 1
    for _ in range(count):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        yield "w%d" % (state % 5000)

counts = {}
for word in words(200000):
    counts[word] = counts.get(word, 0) + 1
text = json.dumps(counts, sort_keys=True)
print(len(text), hashlib.sha256(text.encode()).hexdigest())
print(hashlib.sha256(zlib.compress(text.encode(), 9)).hexdigest())
print(sum(len(m) for m in re.findall(r"w\d*7\d", text)))

results = [None] * 8
def work(index):
    table = {i: str(i) * (i % 50) for i in range(index * 1000, index * 1000 + 20000)}
    results[index] = sum(map(len, table.values()))
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(results)
END

library_tests="test_dict test_list test_set test_bytes test_json test_re test_collections
    test_itertools test_struct test_array test_pickle test_zlib test_sort test_thread
    test_threading_local test_threadsignals test_weakref test_memoryview test_fork1 test_queue"

run_library_tests() {
    # shellcheck disable=SC2086  # several words on purpose
    on_allod timeout 600 "$python" -m test -j2 -q $library_tests
}

check "python finds malloc in Allod" uses_allod python "$python" -c 1
same_output "python program prints the same" "$python" program.py
check "python passes its own library tests" run_library_tests
