// allod-workload: runs one workload on the process's malloc, and reports its cost.
//
//     allod-workload [--scale PPM] [--threads N] [--no-check] NAME
//     allod-workload [--verify | --samples N] --plan FILE replay
//     allod-workload probe
//
// It prints lines of `key=value`. `probe` only prints which file serves malloc, and its version.
#include "work.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

static const struct {
    const char *name;
    workload_fn *run;
    uint64_t param;
} workloads[] = {
    {"random-mixed", random_mixed, 0},
    {"band-mix", band_mix, 0},
    {"slots-20k", slots_20k, 0},
    {"pairs-16", pairs, 16},
    {"pairs-24", pairs, 24},
    {"pairs-64", pairs, 64},
    {"pairs-256", pairs, 256},
    {"pairs-1024", pairs, 1024},
    {"pairs-3000", pairs, 3000},
    {"batch-40", batch_40, 0},
    {"fifo-700", fifo_700, 0},
    {"lifo", lifo, 0},
    {"fifo", fifo, 0},
    {"realloc-grow", realloc_grow, 0},
    {"realloc-64m", realloc_64m, 0},
    {"calloc", zeroed, 0},
    {"aligned", aligned, 0},
    {"blocks-8k-600k", blocks_8k_600k, 0},
    {"medium-25k", medium, 25000},
    {"medium-25k-whole", medium_whole, 25000},
    {"medium-150k", medium, 150000},
    {"medium-150k-whole", medium_whole, 150000},
    {"medium-400k", medium, 400000},
    {"medium-400k-whole", medium_whole, 400000},
    {"large", large, 0},
    {"producer-consumer", producer_consumer, 0},
    {"larson", larson, 0},
    {"thread-churn", thread_churn, 0},
    {"burst-idle", burst_idle, 0},
    {"latency", latency, 0},
    {"replay", replay_plan, 0},
};

static void print(const char *text, size_t length) {
    if (write(1, text, length) != (ssize_t)length) fail("cannot write the result");
}

static void *find(const char *symbol) { return dlsym(RTLD_DEFAULT, symbol); }

// Prints the version of the allocator, if it has a function for that.
static void version(char *text, size_t room) {
    union { void *p; int (*mi_version)(void); const char *(*tc_version)(int *, int *, const char **);
            int (*mallctl)(const char *, void *, size_t *, void *, size_t);
            const char *(*libc_version)(void); } f;
    text[0] = 0;
    if ((f.p = find("mi_version"))) {
        int v = f.mi_version();
        if (v >= 10000) snprintf(text, room, "%d.%d.%d", v / 10000, v / 100 % 100, v % 100);
        else snprintf(text, room, "%d.%d.%d", v / 100, v / 10 % 10, v % 10);
    } else if ((f.p = find("tc_version"))) {
        int major = 0, minor = 0;
        const char *patch = "";
        f.tc_version(&major, &minor, &patch);
        snprintf(text, room, "%d.%d%s", major, minor, patch ? patch : "");
    } else if ((f.p = find("mallctl"))) {
        const char *v = NULL;
        size_t size = sizeof v;
        if (f.mallctl("version", &v, &size, NULL, 0) == 0 && v)
            snprintf(text, room, "%.*s", (int)strcspn(v, "-"), v);
    }
}

// The file whose malloc this process calls, to detect a preloaded library that is overridden.
static int describe(char *text, size_t room) {
    Dl_info info;
    void *p = find("malloc");
    if (!p || !dladdr(p, &info) || !info.dli_fname) fail("cannot tell which library serves malloc");
    void *f = find("free");
    Dl_info other;
    if (!f || !dladdr(f, &other) || strcmp(info.dli_fname, other.dli_fname) != 0)
        fail("malloc and free come from different libraries");
    char v[64];
    version(v, sizeof v);
    return snprintf(text, room, "malloc=%s\nversion=%s\n", info.dli_fname, v);
}

static uint64_t number(const char *text) {
    char *end;
    uint64_t v = text ? strtoull(text, &end, 10) : 0;
    if (!text || *end || !v) fail("a number above 0 is missing or wrong");
    return v;
}

int main(int argc, char **argv) {
    struct work w = {.scale_ppm = 1000000, .threads = 2};
    bool check = true;
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "--scale")) w.scale_ppm = number(argv[++i]);
        else if (!strcmp(argv[i], "--threads")) w.threads = (unsigned)number(argv[++i]);
        else if (!strcmp(argv[i], "--no-check")) check = false;
        else if (!strcmp(argv[i], "--verify")) w.verify = true;
        else if (!strcmp(argv[i], "--samples")) w.samples = number(argv[++i]);
        else if (!strcmp(argv[i], "--plan")) w.plan = argv[++i];
        else fail("unknown option");
    }
    if (i + 1 != argc) fail("say which workload to run");
    char text[5000];
    if (!strcmp(argv[i], "probe")) {
        print(text, (size_t)describe(text, sizeof text));
        return 0;
    }
    for (size_t k = 0; k < sizeof workloads / sizeof *workloads; k++) {
        if (strcmp(argv[i], workloads[k].name)) continue;
        w.param = workloads[k].param;
        workloads[k].run(&w);
        if (check && w.wrong) fail("a block was misaligned, not zeroed, or moved without its contents");
        if (check && w.balance) fail("a block lost its contents");
        int n = snprintf(text, sizeof text,
                         "operations=%llu\nns=%llu\nrss_before_kib=%ld\nrss_peak_kib=%ld\nrss_after_kib=%ld\n",
                         (unsigned long long)w.operations, (unsigned long long)w.ns,
                         w.rss_before_kib, w.rss_peak_kib, w.rss_after_kib);
        static const char *const quantiles[] = {"p50", "p99", "p99.9", "p99.99", "longest"};
        for (unsigned q = 0; q < 5 && w.group_ns[4]; q++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s=%llu\n", quantiles[q],
                          (unsigned long long)w.group_ns[q]);
        if (w.verify) n += snprintf(text + n, sizeof text - (size_t)n, "peak_bytes=%llu\n", (unsigned long long)w.peak_bytes);
        n += describe(text + n, sizeof text - (size_t)n);
        print(text, (size_t)n);
        for (uint64_t k = 0; k < w.sampled; k++)
            print(text, (size_t)snprintf(text, sizeof text, "sample_kib=%ld\n", w.sampled_kib[k]));
        return 0;
    }
    fail("there is no such workload");
}
