/* A library with a mutex of its own that it holds while it allocates, and that it takes around fork.
 * With ALLOCATE_FIRST it has allocated before it registers its handlers; else its constructor
 * is the first thing to run that is not the C library. */
#define _GNU_SOURCE
#include "../c/threads.h"

void allocate_under_mutex(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(void) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
}

static void unlock(void) {
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

__attribute__((constructor(101))) static void load(void) {
    if (getenv("ALLOCATE_FIRST") != NULL) free(opaque(malloc(100)));
    CHECK(pthread_atfork(lock, unlock, unlock) == 0);
}

void allocate_under_mutex(void) {
    static void *blocks[5000];
    lock();
    for (int i = 0; i < 5000; i++) {
        blocks[i] = malloc(2000);
        CHECK(blocks[i] != NULL);
    }
    for (int i = 0; i < 5000; i++) free(blocks[i]);
    unlock();
}
