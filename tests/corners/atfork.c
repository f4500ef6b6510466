/* Handlers of fork that allocate, registered before the first malloc and after it.
 *
 * Promised: handlers given to pthread_atfork may allocate and free blocks of all sizes, whenever
 * they were registered, before the fork and after it, in parent and child, beside other threads. And
 * they may take a mutex that other threads hold while they allocate.
 *
 * atfork plain | before | after | library, and with "threads" other threads allocate meanwhile;
 * atfork mutex, with mutex_library.c preloaded or linked */
#define _GNU_SOURCE
#include "handlers.h"
#include <stdatomic.h>
#include <stdbool.h>

enum { FORKS = 25, THREADS = 3 };

static atomic_bool stop;
static void *_Atomic exchanged[64];

static void *churn(void *seed) {
    uint64_t state = (uintptr_t)seed;
    while (!atomic_load(&stop)) {
        size_t size = next_random(&state) % (next_random(&state) % 100 ? 3000 : 3000000);
        void *block = malloc(size);
        CHECK(block != NULL);
        free(atomic_exchange(&exchanged[next_random(&state) % 64], block));
    }
    return NULL;
}

static void *allocate_in_thread(void *unused) {
    use_the_whole_heap();
    return unused;
}

static void fork_often(int calls_each) {
    for (int i = 0; i < FORKS; i++) {
        int calls = handler_calls;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            watchdog(6);
            CHECK(handler_calls == calls + 2 * calls_each);
            use_the_whole_heap();
            join_thread(start_thread(allocate_in_thread, NULL));
            CHECK(fork() >= 0);
            _exit(0);
        }
        CHECK(ended_well(child));
        CHECK(handler_calls == calls + 2 * calls_each);
    }
}

static atomic_int rounds;
__attribute__((weak)) void allocate_under_mutex(void);

static void *hold_the_mutex(void *unused) {
    while (!atomic_load(&stop)) {
        allocate_under_mutex();
        atomic_fetch_add(&rounds, 1);
        usleep(100);
    }
    return unused;
}

static void fork_beside_a_mutex(void) {
    CHECK(allocate_under_mutex != NULL);
    pthread_t thread = start_thread(hold_the_mutex, NULL);
    while (atomic_load(&rounds) == 0) usleep(100);
    for (int i = 0; i < 100; i++) {
        usleep(500);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            watchdog(6);
            allocate_under_mutex();
            _exit(0);
        }
        CHECK(ended_well(child));
    }
    atomic_store(&stop, true);
    join_thread(thread);
}

static void first_steps(void) {
    handler_calls++;
    free(malloc(5000));
}

int main(int count, char **arguments) {
    pthread_t threads[THREADS];
    CHECK(count >= 2);
    const char *when = arguments[1];
    bool with_threads = count > 2 && strcmp(arguments[2], "threads") == 0;
    watchdog(10);
    if (strcmp(when, "mutex") == 0) {
        fork_beside_a_mutex();
        return 0;
    }
    if (strcmp(when, "plain") == 0)
        CHECK(pthread_atfork(first_steps, first_steps, first_steps) == 0);
    if (strcmp(when, "before") == 0) CHECK(pthread_atfork(handler, handler, handler) == 0);
    free(malloc(10));
    if (strcmp(when, "after") == 0) CHECK(pthread_atfork(handler, handler, handler) == 0);
    if (with_threads)
        for (uintptr_t i = 0; i < THREADS; i++) threads[i] = start_thread(churn, (void *)(i + 1));
    fork_often(strcmp(when, "library") != 0);
    atomic_store(&stop, true);
    if (with_threads)
        for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
    return 0;
}
