/* Memory that waits to be given back, beside memory that is used all the time; and locked memory.
 *
 * Promised: what has been free for longer than the delay goes back although other memory is freed
 * and taken meanwhile. Where memory is locked (mlockall), a program that is idle takes no processor
 * time, what malloc locks is what the program uses and not what is reserved, and malloc works
 * within RLIMIT_MEMLOCK.
 *
 * ageing churn | locked | locked-limit | locked-now | locked-refused */
#define _GNU_SOURCE
#include "corner.h"
#include <grp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/times.h>

enum { OLD = 60, OLD_SIZE = 3 << 20, MIB = 1 << 20 };

/* Old runs lie between live blocks. The hot one is smaller, so that it is always the best choice:
 * it is taken whole for a moment, then in part for a while, so that its rest is always young. */
static void churn(void) {
    static void *old[OLD], *live[OLD + 2];
    for (int i = 0; i < OLD; i++) {
        old[i] = malloc(OLD_SIZE);
        live[i] = malloc(MIB + 100000);
        CHECK(old[i] != NULL && live[i] != NULL);
        touch(old[i], OLD_SIZE, 1);
    }
    void *hot = malloc(2 * MIB);
    live[OLD] = malloc(MIB + 100000);
    CHECK(hot != NULL && live[OLD] != NULL);
    long full = resident_kib();
    for (int i = 0; i < OLD; i++) free(old[i]);
    touch(hot, 2 * MIB, 1);
    free(hot);
    double end = seconds() + 2.5;
    while (seconds() < end) {
        void *whole = malloc(2 * MIB);
        CHECK(whole != NULL);
        touch(whole, 2 * MIB, 1);
        free(whole);
        void *part = malloc(MIB + 100000);
        CHECK(part != NULL);
        touch(part, MIB, 2);
        usleep(2000);
        free(part);
    }
    long now = resident_kib();
    printf("resident KiB: %ld full, %ld after the churn\n", full, now);
    fflush(stdout);
    CHECK(full > 180000);
    CHECK(now < 40000);
    for (int i = 0; i <= OLD; i++) free(live[i]);
}

static void free_64_mb(void) {
    static void *large[32], *small[50000];
    for (int i = 0; i < 32; i++) {
        large[i] = malloc(3 * MIB / 2);
        CHECK(large[i] != NULL);
        mark(large[i], 3 * MIB / 2, 1);
    }
    for (int i = 0; i < 50000; i++) {
        small[i] = malloc(320);
        CHECK(small[i] != NULL);
        mark(small[i], 320, 1);
    }
    for (int i = 0; i < 32; i++) free(large[i]);
    for (int i = 0; i < 50000; i++) free(small[i]);
}

static void locked(void) {
    struct tms before, after;
    free(malloc(100));
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        if (errno == EPERM) skip("memory may not be locked here");
        CHECK(!"mlockall");
    }
    free_64_mb();
    sleep_ms(300);
    times(&before);
    sleep_ms(2000);
    times(&after);
    long ms = (after.tms_utime + after.tms_stime - before.tms_utime - before.tms_stime) * 1000 /
              sysconf(_SC_CLK_TCK);
    printf("%ld ms of processor while idle; locked %ld KiB, resident %ld KiB\n", ms,
           status_kib("VmLck:"), resident_kib());
    fflush(stdout);
    CHECK(ms < 50);
    CHECK(resident_kib() < 300 << 10);
    CHECK(status_kib("VmLck:") < 300 << 10);
    free_64_mb();
}

/* Becomes somebody who may lock that much at most. */
static struct rlimit lock_at_most(rlim_t bytes) {
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    if (limit.rlim_max > bytes) limit.rlim_max = bytes;
    limit.rlim_cur = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    if (geteuid() == 0) {
        CHECK(setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0);
        CHECK(setresuid(65534, 65534, 65534) == 0);
    }
    return limit;
}

/* Too much is mapped already for the limit: the call is refused, and nothing is locked then or later. */
static void refused(void) {
    lock_at_most(MIB);
    free(malloc(MIB / 4));
    if (mlockall(MCL_CURRENT | MCL_FUTURE) == 0) skip("so much memory may be locked");
    free_64_mb();
    printf("locked %ld KiB\n", status_kib("VmLck:"));
    CHECK(status_kib("VmLck:") == 0);
}

/* What is mapped already, under a limit that a small program keeps. */
static void locked_now(void) {
    enum { LIMIT = 8 * MIB };
    free(malloc(100));
    if (lock_at_most(LIMIT).rlim_cur < LIMIT) skip("too little memory may be locked here");
    CHECK(mlockall(MCL_CURRENT) == 0);
    printf("locked %ld KiB\n", status_kib("VmLck:"));
    fflush(stdout);
    CHECK(status_kib("VmLck:") <= LIMIT >> 10);
    munlockall();
    free_64_mb();
}

/* As somebody who may lock a few megabytes, of which a quarter is taken. */
static void locked_within_a_limit(void) {
    free(malloc(100));
    struct rlimit limit = lock_at_most(64 * MIB);
    if (limit.rlim_max < 4 * MIB) skip("too little memory may be locked here");
    if (mlockall(MCL_FUTURE) != 0) skip("memory may not be locked here");
    size_t each = limit.rlim_cur / 40;
    for (int round = 0; round < 20; round++) {
        void *blocks[10];
        for (int i = 0; i < 10; i++) {
            blocks[i] = malloc(each);
            CHECK(blocks[i] != NULL);
            touch(blocks[i], each, i);
        }
        for (int i = 0; i < 10; i++) free(blocks[i]);
    }
    CHECK(resident_kib() < 100 << 10);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    watchdog(15);
    if (strcmp(arguments[1], "churn") == 0) churn();
    else if (strcmp(arguments[1], "locked") == 0) locked();
    else if (strcmp(arguments[1], "locked-limit") == 0) locked_within_a_limit();
    else if (strcmp(arguments[1], "locked-now") == 0) locked_now();
    else if (strcmp(arguments[1], "locked-refused") == 0) refused();
    else return 2;
    return 0;
}
