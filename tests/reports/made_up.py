#!/usr/bin/env python3
"""Makes up a report with all that is hard to draw: many rows and subjects, long and hostile names, ratios
from a thousandth to a thousand, values that are all the same, rows that were lost, memory over time.

    made_up.py SEED > report.json
"""

import json
import math
import random
import statistics
import sys

seed = int(sys.argv[1])
draw = random.Random(seed)
ROUNDS = 12
ROWS = ["random-mixed", "realloc-64m", "all-the-same", "one-that-is-far-off", "<b>bold</b> & \"quoted\""]
ROWS += [f"row-{i}" for i in range(12)] + ["a-workload-with-a-name-that-is-much-too-long-for-an-axis"]
SUBJECTS = ["mimalloc-3.6.0", "allod", "system", "<script>alert(1)</script>", "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"]
SUBJECTS += [f"peer-{i}.{i}" for i in range(7)]
BASE = SUBJECTS[0]


def factor(row, subject):
    """How many times slower than the baseline."""
    if row == "all-the-same":
        return 1.0
    if row == "one-that-is-far-off" and subject == "system":
        return 1000.0
    if row == "realloc-64m" and subject == "allod":
        return 0.001
    place = ROWS.index(row) + SUBJECTS.index(subject) * 3
    return math.exp(math.sin(place) * (0.05 if place % 2 else 0.8))


def observation(row, subject, round_, metric, unit, value):
    return {"round": round_, "position": 0, "suite": "heap", "workload": row, "arm": subject,
            "metric": metric, "unit": unit, "value": value, "counts": True}


def interval(values):
    ordered = sorted(values)
    return [ordered[2], ordered[-3]]


observations, results, comparisons, failures, series = [], [], [], [], []
for n, row in enumerate(ROWS):
    times, peaks = {}, {}
    for subject in SUBJECTS:
        if row == "row-3" and subject == "system":
            failures.append({"suite": "heap", "workload": row, "subject": subject, "reason": "killed by signal 11"})
            continue
        noise = 0.0 if row == "all-the-same" else 0.03
        base = 10 ** (n % 7)
        times[subject] = [base * factor(row, subject) * math.exp(draw.gauss(0, noise)) for _ in range(ROUNDS)]
        peaks[subject] = 2000.0 * (1 + SUBJECTS.index(subject) % 4)
        for round_, ns in enumerate(times[subject], 1):
            observations.append(observation(row, subject, round_, "time", "ns/op", ns))
            observations.append(observation(row, subject, round_, "peak", "KiB", peaks[subject]))
        results.append({"suite": "heap", "workload": row, "subject": subject, "unit": "ns/op", "runs": ROUNDS,
                        "median": statistics.median(times[subject]), "mean": statistics.mean(times[subject]),
                        "stddev": statistics.stdev(times[subject]), "ci95": interval(times[subject]),
                        "peak_rss_kib": int(peaks[subject])})
    for subject in times:
        if subject == BASE:
            continue
        ratios = [b / a for b, a in zip(times[BASE], times[subject])]
        low, high = interval(ratios)
        comparisons.append({"suite": "heap", "workload": row, "subject": subject, "baseline": BASE,
                            "ratio": statistics.median(ratios), "ci95": [low, high],
                            "verdict": "GO" if low > 1.01 else "NO-GO" if high < 0.99 else "UNDECIDED"})
for workload in ["compiler", "<i>page</i>"]:
    for n, subject in enumerate(SUBJECTS):
        points = [[1e4 * i, 1000 * (n + 1) * (1 + math.sin(i / 9 + n / 4))] for i in range(1, 61)]
        series.append({"suite": "replay", "workload": workload, "arm": subject, "metric": "resident",
                       "unit": "KiB", "along": "calls", "points": points})

report = {
    "schema": 2,
    "machine": {"os": "Linux 6.1", "arch": "x86_64", "cpu": "A Processor & Co <4 GHz>", "cores": 2,
                "memory_kib": 8 << 20, "huge_pages": "madvise"},
    "provenance": {"version": "0.1.0", "command": ["allod", "bench", "heap", "--only", ",".join(ROWS)],
                   "unix_time": 1700000000 + 86400 * seed, "seed": seed, "disturbed_rounds": 3,
                   "repeated_rounds": 2, "stopped": False},
    "results": results, "comparisons": comparisons, "failures": failures, "series": series,
    "observations": observations,
}
json.dump(report, sys.stdout)
