/* fork while other threads allocate: the child goes on allocating, starts threads, forks again.
 * modes: preload static */
#define _GNU_SOURCE
#include "threads.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, FORKS = 150, KEPT = 300 };

static atomic_bool stop;
static void *_Atomic exchanged[64];

static void exercise(uint64_t seed) {
    void *blocks[64] = {NULL};
    for (int i = 0; i < 2000; i++) {
        size_t slot = next_random(&seed) % 64;
        free(blocks[slot]);
        size_t size = next_random(&seed) % (i % 50 ? 2000 : 200000);
        blocks[slot] = malloc(size);
        CHECK(blocks[slot] != NULL);
        memset(blocks[slot], 1, size);
    }
    for (int i = 0; i < 64; i++) free(blocks[i]);
}

/* Allocates, frees, and frees blocks of other threads, until told to stop. */
static void *churn(void *seed) {
    uint64_t state = (uintptr_t)seed;
    while (!atomic_load(&stop)) {
        void *block = malloc(next_random(&state) % 3000);
        CHECK(block != NULL);
        free(atomic_exchange(&exchanged[next_random(&state) % 64], block));
    }
    return NULL;
}

static void *child_thread(void *seed) {
    exercise((uintptr_t)seed);
    return NULL;
}

static void child_lives_on(void *const *kept, int number) {
    for (int i = 0; i < KEPT; i++) {
        CHECK(is_filled(kept[i], i, (size_t)i * 20));
        free(kept[i]);
    }
    for (int i = 0; i < 64; i++) free(atomic_exchange(&exchanged[i], NULL));
    exercise((uint64_t)number);
    pthread_t a = start_thread(child_thread, (void *)1);
    pthread_t b = start_thread(child_thread, (void *)2);
    join_thread(a);
    join_thread(b);
    pid_t grandchild = fork();
    CHECK(grandchild >= 0);
    if (grandchild == 0) {
        exercise(9);
        _exit(0);
    }
    int status;
    CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
}

int main(void) {
    pthread_t threads[THREADS];
    void *kept[KEPT];
    check_allod_is_malloc();
    for (int i = 0; i < KEPT; i++) {
        kept[i] = malloc((size_t)i * 20);
        CHECK(kept[i] != NULL);
        memset(kept[i], i, (size_t)i * 20);
    }
    for (uintptr_t i = 0; i < THREADS; i++) threads[i] = start_thread(churn, (void *)(i + 1));
    for (int number = 0; number < FORKS; number++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            alarm(20); /* a deadlock in the child ends it */
            child_lives_on(kept, number);
            _exit(0);
        }
        exercise((uint64_t)number);
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
    return 0;
}
