// Hardware counters of one process and its children, if the machine has them and the system permits them.
// Only user mode is counted.
#ifndef ALLOD_COUNTERS_H
#define ALLOD_COUNTERS_H

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static const struct {
    const char *name;
    uint32_t type;
    uint64_t config;
} counted[] = {
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"dtlb_misses", PERF_TYPE_HW_CACHE,
     PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
};

enum { COUNTERS = sizeof counted / sizeof *counted };

// Counting begins when the process executes its program. An unavailable counter is -1. Returns 0, or if
// there are none at all, the `errno` of the first.
static int open_counters(int counters[COUNTERS], pid_t process) {
    int had = 0, first_error = 0;
    for (unsigned i = 0; i < COUNTERS; i++) {
        struct perf_event_attr attr = {
            .size = sizeof attr,
            .type = counted[i].type,
            .config = counted[i].config,
            .disabled = 1,
            .enable_on_exec = 1,
            .inherit = 1,
            .exclude_kernel = 1,
            .exclude_hv = 1,
            .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        };
        counters[i] = (int)syscall(SYS_perf_event_open, &attr, process, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (counters[i] >= 0) had++;
        else if (!first_error) first_error = errno;
    }
    return had ? 0 : first_error;
}

// Prints a line for each counter that ran; if they had to share the hardware, the count is scaled up.
static int report_counters(const int counters[COUNTERS], int report) {
    for (unsigned i = 0; i < COUNTERS; i++) {
        struct { uint64_t count, enabled, running; } seen;
        if (counters[i] < 0 || read(counters[i], &seen, sizeof seen) != sizeof seen || !seen.running) continue;
        uint64_t count = (uint64_t)((unsigned __int128)seen.count * seen.enabled / seen.running);
        if (dprintf(report, "%s=%llu\n", counted[i].name, (unsigned long long)count) < 0) return 2;
    }
    return 0;
}

#endif
