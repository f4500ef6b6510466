/* Blocks beside much free address space.
 *
 * Promised: what malloc and free cost does not depend on how much address space lies free: beside
 * 4 GiB of it, blocks of 40 KB to 2 MB come and go for what they cost in a fresh process (which is
 * less than 10 microseconds).
 *
 * holds at-once | later (when the freed memory has gone back; with ALLOD_PURGE_DELAY_MS=50) */
#define _GNU_SOURCE
#include "corner.h"

enum { EACH = 4000, MOST_LIVE = 300, CASES = 6 };
static const size_t GIB = (size_t)1 << 30;
static const struct {
    int live;
    size_t least, most;
} cases[CASES] = {
    {1, 1100000, 1900000}, {1, 40000, 1000000},   {20, 1100000, 1900000},
    {20, 40000, 1000000},  {MOST_LIVE, 1100000, 1900000}, {MOST_LIVE, 40000, 1000000},
};

/* All are taken, then all are freed, and again. */
static double microseconds_each(int which) {
    static void *blocks[MOST_LIVE];
    uint64_t random = 5;
    double start = seconds();
    int live = cases[which].live, rounds = EACH / live;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < live; i++) {
            size_t more = next_random(&random) % (cases[which].most - cases[which].least);
            blocks[i] = malloc(cases[which].least + more);
            CHECK(blocks[i] != NULL);
        }
        for (int i = 0; i < live; i++) free(blocks[i]);
    }
    return (seconds() - start) / (rounds * live) * 1e6;
}

static void leave_4_gib(int later) {
    void *huge[4];
    for (int i = 0; i < 4; i++) {
        huge[i] = malloc(GIB);
        CHECK(huge[i] != NULL);
    }
    for (int i = 0; i < 4; i++) free(huge[i]);
    if (later) sleep_ms(250);
}

/* In a process of its own; the best of three, for the processor may be taken away meanwhile. */
static double measure(int which, int beside_much, int later) {
    double best = 1e9, each;
    for (int i = 0; i < 3; i++) {
        int channel[2];
        CHECK(pipe(channel) == 0);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            if (beside_much) leave_4_gib(later);
            each = microseconds_each(which);
            CHECK(write(channel[1], &each, sizeof each) == sizeof each);
            _exit(0);
        }
        CHECK(read(channel[0], &each, sizeof each) == sizeof each);
        CHECK(ended_well(child));
        close(channel[0]);
        close(channel[1]);
        if (each < best) best = each;
    }
    return best;
}

int main(int count, char **arguments) {
    int slow = 0;
    CHECK(count == 2);
    watchdog(20);
    for (int i = 0; i < CASES; i++) {
        double fresh = measure(i, 0, 0);
        double beside = measure(i, 1, strcmp(arguments[1], "later") == 0);
        printf("%3d live of %7zu bytes and more: %.2f microseconds each, %.2f in a fresh process\n",
               cases[i].live, cases[i].least, beside, fresh);
        if (beside > 3 * fresh + 2) slow = 1;
    }
    fflush(stdout);
    CHECK(!slow);
    return 0;
}
