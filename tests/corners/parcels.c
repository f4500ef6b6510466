/* Threads that go idle: what they have freed of other threads' memory, and what they cost.
 *
 *   parcels handed-out   one frees 10 blocks of the first thread's, then sleeps for ever
 *   parcels purged       many do, and nobody allocates any more
 *   parcels turns        thousands of threads, all asleep: how many heaps does giving memory back look at?
 *
 * Promised: blocks come back to their owner soon after the delay, whatever the thread that freed them does
 * next; and a turn of giving back looks at no heap in which nothing has changed. */
#define _GNU_SOURCE
#include "stats.h"
#include <stdatomic.h>

enum { BLOCKS = 4000, GIVEN = 10, SIZE = 1000 };
enum { PAGE = 4000, PART = 60 };
enum { IDLE_THREADS = 10000, STACK = 64 << 10 };
static const size_t MIB = 1 << 20;

static void *given[PART];
static size_t count_given;
static atomic_uint asleep;

static void *free_and_sleep(void *unused) {
    for (size_t i = 0; i < count_given; i++) free(given[i]);
    atomic_fetch_add(&asleep, 1);
    for (;;) pause();
    return unused;
}

static void wait_for_sleepers(unsigned count) {
    while (atomic_load(&asleep) < count) sleep_ms(5);
}

/* Memory held, so that there is somebody to give memory back. */
static void *hold_much(void) {
    void *held = malloc(40 * MIB);
    CHECK(held != NULL);
    return held;
}

static void handed_out(void) {
    static void *blocks[BLOCKS];
    void *held = hold_much();
    for (int i = 0; i < BLOCKS; i++) CHECK((blocks[i] = malloc(SIZE)) != NULL);
    for (; count_given < GIVEN; count_given++) given[count_given] = blocks[count_given * 50];
    start_thread(free_and_sleep, NULL);
    wait_for_sleepers(1);
    sleep_ms(1500);
    int found = 0;
    for (int i = 0; i < BLOCKS && found < GIVEN; i++) {
        void *block = malloc(SIZE);
        CHECK(block != NULL);
        for (int j = 0; j < GIVEN; j++) found += block == given[j];
    }
    printf("%d of %d blocks came back\n", found, GIVEN);
    fflush(stdout);
    CHECK(found == GIVEN);
    free(held);
}

static void purged(void) {
    static void *blocks[BLOCKS];
    void *held = hold_much();
    for (int i = 0; i < BLOCKS; i++) {
        CHECK((blocks[i] = malloc(PAGE)) != NULL);
        touch(blocks[i], PAGE, 1);
    }
    /* Each sleeper has a parcel that is nearly full. */
    for (int i = 0; i < BLOCKS / PART; i++) {
        for (count_given = 0; count_given < PART; count_given++)
            given[count_given] = blocks[i * PART + (int)count_given];
        start_thread(free_and_sleep, NULL);
        wait_for_sleepers((unsigned)i + 1);
    }
    for (int i = BLOCKS / PART * PART; i < BLOCKS; i++) free(blocks[i]);
    CHECK(resident_sinks_below(12 << 10, 4));
    free(held);
}

static void turns_so_far(unsigned long *turns, unsigned long *heaps) {
    const char *line = stats_line("giving back");
    if (line == NULL) skip("needs Allod, which counts its turns");
    CHECK(sscanf(line, "giving back %lu turns, %lu heaps", turns, heaps) == 2);
}

static void *allocate_and_sleep(void *unused) {
    void *block = malloc(SIZE);
    CHECK(block != NULL);
    free(block);
    return free_and_sleep(unused);
}

static void turns(void) {
    pthread_attr_t attributes;
    void *held = hold_much();
    unsigned started = 0;
    unsigned long turns[2], heaps[2];
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, STACK) == 0);
    for (; started < IDLE_THREADS; started++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, allocate_and_sleep, NULL) != 0) break;
        if (started % 100 == 99) wait_for_sleepers(started);
    }
    wait_for_sleepers(started);
    if (started < 1000) skip("this machine does not allow 1,000 threads");
    /* What the threads touched while they started has its time first. */
    double end = seconds() + 12;
    do {
        turns_so_far(&turns[0], &heaps[0]);
        for (int i = 0; i < 50; i++) {
            free(malloc(2 * MIB)); /* keeps the helper at work */
            sleep_ms(20);
        }
        turns_so_far(&turns[1], &heaps[1]);
        printf("%u idle threads: %lu turns looked at %lu heaps\n", started, turns[1] - turns[0],
               heaps[1] - heaps[0]);
        fflush(stdout);
    } while (heaps[1] - heaps[0] > 3 * (turns[1] - turns[0]) && seconds() < end);
    CHECK(turns[1] > turns[0] + 2);
    CHECK(heaps[1] - heaps[0] <= 3 * (turns[1] - turns[0]));
    free(held);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    watchdog(28);
    if (strcmp(arguments[1], "handed-out") == 0) handed_out();
    else if (strcmp(arguments[1], "purged") == 0) purged();
    else if (strcmp(arguments[1], "turns") == 0) turns();
    else return 2;
    _exit(0); /* sleepers and all */
}
