/* 64 threads on two processors churn over all sizes up to 1 MiB: how often does one take a lock that all
 * of the process share? The counts are Allod's own (allod_stats_print, `shared locks`).
 *
 *   locks SHAPE    warms up, then fails where more is taken than is promised
 *   locks report   prints the counts of all shapes; sizes-many takes long to warm up, and sizes above 1 MiB are large blocks
 *
 * Promised: at most one acquisition per 1,000 operations once the heaps are warm. */
#define _GNU_SOURCE
#include "stats.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { THREADS = 64, MOST_OWN = 200, EXCHANGE = 256, SECONDS = 2 };
/* Warm is who has done that much, or has had that long: a machine may be busy with other things. */
enum { WARM_OPERATIONS = 20 * 1000 * 1000, WARM_SECONDS = 15 };

/* What a program does. */
struct shape {
    const char *name;
    bool uniform;      /* sizes: every size alike, or every magnitude alike */
    unsigned passed;   /* of 100 blocks, how many another thread frees */
    unsigned own;      /* blocks that a thread holds */
    unsigned steps;    /* a window's steps of one thread: a malloc and a free each */
    unsigned most_kib; /* the largest size */
    bool comes_and_goes; /* threads end with each window, and others come */
};

static const struct shape shapes[] = {
    {"magnitudes", false, 0, 24, 8000, 1024, false},
    {"magnitudes-passed", false, 50, 24, 8000, 1024, false},
    {"sizes", true, 0, 24, 8000, 1024, false},
    {"sizes-many", true, 0, 200, 8000, 1024, false},
    {"sizes-passed", true, 50, 24, 4000, 1024, false},
    {"come-and-go", false, 25, 24, 4000, 1024, true},
    {"magnitudes-4m", false, 0, 24, 2000, 4096, false},
    {"sizes-4m", true, 0, 24, 1000, 4096, false},
};

static const struct shape *shape;
static char *_Atomic exchange[EXCHANGE];
static pthread_barrier_t barrier;
static atomic_bool done;

static size_t draw(uint64_t *random) {
    size_t most = (size_t)shape->most_kib << 10;
    if (shape->uniform) return 1 + next_random(random) % most;
    unsigned doublings = (unsigned)__builtin_ctzl(most) - 4; /* from 16 bytes on */
    size_t from = (size_t)16 << next_random(random) % doublings;
    return from + next_random(random) % (from + 1);
}

static void step(uint64_t *random, char **own) {
    size_t size = draw(random);
    char *block = malloc(size);
    CHECK(block != NULL);
    block[0] = block[size - 1] = 1;
    size_t where = next_random(random);
    if (next_random(random) % 100 < shape->passed) {
        block = atomic_exchange(&exchange[where % EXCHANGE], block);
    } else {
        char *before = own[where % shape->own];
        own[where % shape->own] = block;
        block = before;
    }
    free(block);
}

static void *work(void *seed) {
    uint64_t random = (uintptr_t)seed;
    char *own[MOST_OWN] = {NULL};
    for (;;) {
        pthread_barrier_wait(&barrier);
        if (atomic_load(&done)) break;
        for (unsigned i = 0; i < shape->steps; i++) step(&random, own);
        pthread_barrier_wait(&barrier);
    }
    for (unsigned i = 0; i < shape->own; i++) free(own[i]);
    return NULL;
}

struct counts {
    unsigned long source, pool, waits;
};

static struct counts shared_locks(void) {
    struct counts c;
    const char *line = stats_line("shared locks");
    if (line == NULL) skip("needs Allod, which counts what it shares");
    CHECK(sscanf(line, "shared locks span source %lu times, pool of parcels %lu, %lu waits", &c.source,
                 &c.pool, &c.waits) == 3);
    return c;
}

static void start_all(pthread_t *threads) {
    for (uintptr_t i = 0; i < THREADS; i++) threads[i] = start_thread(work, (void *)(i + 1));
}

static void join_all(const pthread_t *threads) {
    atomic_store(&done, true);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
    atomic_store(&done, false);
}

/* Runs windows of a shape for some seconds at least, then on until it has done `enough` operations or had
 * `most` seconds; returns locks per 1,000 operations. */
static double run_for(const struct shape *s, double enough, double most, const char *name) {
    static pthread_t threads[THREADS];
    double start = seconds(), operations = 0;
    struct counts before = shared_locks();
    if (!s->comes_and_goes) start_all(threads);
    do {
        if (s->comes_and_goes) start_all(threads);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        operations += 2.0 * THREADS * s->steps;
        if (s->comes_and_goes) join_all(threads);
    } while (seconds() < start + SECONDS || (operations < enough && seconds() < start + most));
    struct counts after = shared_locks();
    if (!s->comes_and_goes) join_all(threads);
    double source = (double)(after.source - before.source) * 1000 / operations;
    double pool = (double)(after.pool - before.pool) * 1000 / operations;
    printf("%-18s %s: %.3f of the span source, %.3f of the pool, per 1000 of %.0f operations; %lu waits\n",
           s->name, name, source, pool, operations, after.waits - before.waits);
    fflush(stdout);
    return source + pool;
}

static bool run(const struct shape *s) {
    shape = s;
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS + 1) == 0);
    run_for(s, WARM_OPERATIONS, WARM_SECONDS, "warming");
    double locks = run_for(s, 0, 0, "warm   ");
    for (int i = 0; i < EXCHANGE; i++) free(atomic_exchange(&exchange[i], NULL));
    pthread_barrier_destroy(&barrier);
    return locks <= 1;
}

/* Two processors, as many threads as they come. */
static void use_two_processors(void) {
    cpu_set_t all, two;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&two);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&two) < 2; i++)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &two);
    CHECK(sched_setaffinity(0, sizeof two, &two) == 0);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    bool report = strcmp(arguments[1], "report") == 0;
    watchdog(report ? 300 : 25);
    use_two_processors();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (report) run(&shapes[i]);
        else if (strcmp(arguments[1], shapes[i].name) == 0) return run(&shapes[i]) ? 0 : 1;
    }
    return report ? 0 : 2;
}
