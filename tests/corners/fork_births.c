/* fork while threads are born and die, and while memory is on its way back to the system.
 *
 * Promised: the child can allocate, start threads and fork; nothing that was on its way at the fork
 * is lost to it, so generations of forks take no more memory or addresses than the first.
 *
 * fork_births births | crowd | purge | generations (the latter two with ALLOD_PURGE_DELAY_MS=1) */
#define _GNU_SOURCE
#include "corner.h"
#include <stdatomic.h>
#include <stdbool.h>

enum { FORKS = 300, SPAWNERS = 3, BATCH = 6, GENERATIONS = 50, CROWD = 200, BURST = 34, BLOCK = 1500000 };

static atomic_bool stop;
static void *_Atomic left[256];

static void exercise(uint64_t seed) {
    void *blocks[40] = {NULL};
    for (int i = 0; i < 400; i++) {
        size_t slot = next_random(&seed) % 40;
        free(blocks[slot]);
        size_t size = next_random(&seed) % (i % 20 ? 3000 : 1500000);
        blocks[slot] = malloc(size);
        CHECK(blocks[slot] != NULL);
        mark(blocks[slot], size, 3);
    }
    for (int i = 0; i < 40; i++) free(blocks[i]);
}

/* A short life: some blocks of its own, one that outlives it, one of another thread freed. */
static void *live(void *seed) {
    exercise((uintptr_t)seed);
    uint64_t random = (uintptr_t)seed;
    for (int i = 0; i < 8; i++) {
        void *block = malloc(next_random(&random) % 5000);
        CHECK(block != NULL);
        free(atomic_exchange(&left[next_random(&random) % 256], block));
    }
    return NULL;
}

static void give_birth(uintptr_t seed) {
    pthread_t threads[BATCH];
    for (uintptr_t i = 0; i < BATCH; i++)
        threads[i] = start_thread(live, (void *)(seed * BATCH + i + 1));
    for (int i = 0; i < BATCH; i++) join_thread(threads[i]);
}

static void *spawner(void *seed) {
    for (uintptr_t i = 0; !atomic_load(&stop); i++) give_birth((uintptr_t)seed * 100000 + i);
    return NULL;
}

static void in_child(int number) {
    exercise((uint64_t)number);
    for (int i = 0; i < 256; i++) free(atomic_exchange(&left[i], NULL));
    give_birth((uintptr_t)number);
    pid_t grandchild = fork();
    CHECK(grandchild >= 0);
    if (grandchild == 0) {
        watchdog(8);
        exercise(5);
        _exit(0);
    }
    CHECK(ended_well(grandchild));
}

static void births(void) {
    pthread_t spawners[SPAWNERS];
    for (uintptr_t i = 0; i < SPAWNERS; i++) spawners[i] = start_thread(spawner, (void *)(i + 1));
    double end = seconds() + 8;
    for (int i = 0; i < FORKS && seconds() < end; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            watchdog(8);
            in_child(i);
            _exit(0);
        }
        CHECK(ended_well(child));
    }
    atomic_store(&stop, true);
    for (int i = 0; i < SPAWNERS; i++) join_thread(spawners[i]);
}

static void *live_on(void *seed) {
    exercise((uintptr_t)seed);
    while (!atomic_load(&stop)) sleep_ms(5);
    return NULL;
}

static void *grow(void *unused) {
    static pthread_t threads[CROWD];
    for (uintptr_t i = 0; i < CROWD; i++) threads[i] = start_thread(live_on, (void *)(i + 1));
    atomic_store(&stop, true);
    for (int i = 0; i < CROWD; i++) join_thread(threads[i]);
    return unused;
}

/* Ever more threads at once, so that each makes a heap, while the first thread forks. */
static void crowd(void) {
    double end = seconds() + 8;
    for (int round = 0; round < 12 && seconds() < end; round++) {
        pid_t process = fork();
        CHECK(process >= 0);
        if (process == 0) {
            watchdog(12);
            pthread_t grower = start_thread(grow, NULL);
            while (!atomic_load(&stop)) {
                pid_t child = fork();
                CHECK(child >= 0);
                if (child == 0) {
                    watchdog(8);
                    exercise(3);
                    join_thread(start_thread(live, (void *)5));
                    _exit(0);
                }
                exercise(4);
                CHECK(ended_well(child));
            }
            join_thread(grower);
            _exit(0);
        }
        CHECK(ended_well(process));
    }
}

/* 50 MB, touched and freed. */
static void burst(void) {
    void *blocks[BURST];
    for (int i = 0; i < BURST; i++) {
        blocks[i] = malloc(BLOCK);
        CHECK(blocks[i] != NULL);
        touch(blocks[i], BLOCK, i + 1);
    }
    for (int i = 0; i < BURST; i++) free(blocks[i]);
}

static void *free_big_runs(void *seed) {
    uint64_t random = (uintptr_t)seed;
    while (!atomic_load(&stop)) {
        void *blocks[8];
        for (int i = 0; i < 8; i++) {
            size_t size = (1 << 20) + next_random(&random) % (4 << 20);
            blocks[i] = malloc(size);
            CHECK(blocks[i] != NULL);
            touch(blocks[i], size, 1);
        }
        for (int i = 0; i < 8; i++) free(blocks[(i * 3) % 8]);
        sleep_ms((long)(next_random(&random) % 14));
    }
    return NULL;
}

static void purge(void) {
    pthread_t threads[2];
    uint64_t random = 3;
    for (uintptr_t i = 0; i < 2; i++) threads[i] = start_thread(free_big_runs, (void *)(i + 1));
    double end = seconds() + 7;
    for (int n = 0; n < 80 && seconds() < end; n++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            watchdog(8);
            for (int i = 0; i < 3; i++) burst();
            exercise(7);
            /* 40 MB of the two threads' were live at most, and 50 MB of our own. */
            CHECK(writable_kib() < 600 << 10);
            CHECK(resident_kib() < 250 << 10);
            _exit(0);
        }
        CHECK(ended_well(child));
        sleep_ms((long)(next_random(&random) % 20));
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++) join_thread(threads[i]);
}

/* Each generation is the child of the one before. */
static void generations(void) {
    uint64_t random = 11;
    burst();
    long writable = writable_kib(), resident = 0;
    for (int n = 0; n < GENERATIONS; n++) {
        burst();
        if (resident_kib() > resident) resident = resident_kib();
        /* The helper gives memory back every 10 ms or so. */
        usleep(8000 + (unsigned)(next_random(&random) % 8000));
        pid_t child = fork();
        CHECK(child >= 0);
        if (child > 0) {
            int status; /* the last generation has spoken */
            CHECK(waitpid(child, &status, 0) == child);
            if (WIFSIGNALED(status)) fprintf(stderr, "generation %d: signal %x\n", n, status);
            _exit(status != 0);
        }
        watchdog(15);
    }
    burst();
    printf("writable KiB: %ld first, %ld last; resident at most %ld\n", writable, writable_kib(),
           resident);
    CHECK(writable_kib() < writable + (200 << 10));
    CHECK(resident < 200 << 10);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    watchdog(20);
    if (strcmp(arguments[1], "births") == 0) births();
    else if (strcmp(arguments[1], "crowd") == 0) crowd();
    else if (strcmp(arguments[1], "purge") == 0) purge();
    else generations();
    fflush(stdout);
    return 0;
}
