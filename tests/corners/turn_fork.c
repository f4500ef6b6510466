/* fork in a handler of a signal that came while malloc gave memory back to the system.
 *
 * Promised: the handler may return in parent and child, and both go on allocating and giving memory back.
 *
 * turn_fork TIMES    the signal comes in the call numbered TIMES by which a thread's own slow path gives
 *                    memory back; with ALLOD_BACKGROUND=0 and ALLOD_PURGE_DELAY_MS=50 */
#define _GNU_SOURCE
#include "corner.h"
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { OTHERS = 4, KEPT = 600, BLOCKS = 400 };
static const double LONG = 1.5;

static atomic_int calls_left;
static _Thread_local int is_worker;
static volatile pid_t child = -1;
static pthread_barrier_t filled, over;

static void fork_and_return(int number) {
    (void)number;
    child = fork();
    if (child == 0) watchdog(8);
}

/* Stands before the C library's. */
int madvise(void *address, size_t length, int advice) {
    if (advice == MADV_DONTNEED && is_worker && atomic_load(&calls_left) > 0 &&
        atomic_fetch_sub(&calls_left, 1) == 1)
        raise(SIGUSR1);
    return (int)syscall(SYS_madvise, address, length, advice);
}

/* Heaps with something to give back, whose threads are idle. */
static void *fill_and_wait(void *unused) {
    static _Thread_local void *blocks[KEPT];
    for (int i = 0; i < KEPT; i++) {
        blocks[i] = malloc(5000);
        CHECK(blocks[i] != NULL);
        touch(blocks[i], 5000, 1);
    }
    for (int i = 0; i < KEPT; i++)
        if (i % 20 != 0) free(blocks[i]);
    pthread_barrier_wait(&filled);
    pthread_barrier_wait(&over);
    return unused;
}

static void *work(void *unused) {
    static void *blocks[BLOCKS];
    is_worker = 1;
    for (double start = seconds(); seconds() < start + LONG; usleep(500)) {
        for (int i = 0; i < BLOCKS; i++) {
            blocks[i] = malloc(3000 + (size_t)i % 13 * 7000);
            CHECK(blocks[i] != NULL);
            *(char *)blocks[i] = 1;
        }
        for (int i = 0; i < BLOCKS; i++) free(blocks[i]);
    }
    if (child == 0) _exit(0);
    return unused;
}

int main(int count, char **arguments) {
    pthread_t others[OTHERS];
    CHECK(count == 2);
    watchdog(15);
    atomic_store(&calls_left, atoi(arguments[1]));
    CHECK(signal(SIGUSR1, fork_and_return) != SIG_ERR);
    CHECK(pthread_barrier_init(&filled, NULL, OTHERS + 1) == 0);
    CHECK(pthread_barrier_init(&over, NULL, OTHERS + 1) == 0);
    for (int i = 0; i < OTHERS; i++) others[i] = start_thread(fill_and_wait, NULL);
    pthread_barrier_wait(&filled);
    join_thread(start_thread(work, NULL));
    if (child < 0) skip("memory was not given back as often");
    CHECK(ended_well(child));
    pthread_barrier_wait(&over);
    for (int i = 0; i < OTHERS; i++) join_thread(others[i]);
    return 0;
}
