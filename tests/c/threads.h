/* Starting and joining threads, for the tests that use several. */
#ifndef THREADS_H
#define THREADS_H

#include "check.h"
#include <pthread.h>

static inline pthread_t start_thread(void *(*run)(void *), void *argument) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run, argument) == 0);
    return thread;
}

static inline void join_thread(pthread_t thread) {
    CHECK(pthread_join(thread, NULL) == 0);
}

/* A pseudo-random number; each thread keeps a state of its own. */
static inline size_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(*state >> 33);
}

/* Resident memory of this process in KiB. */
static inline long resident_kib(void) {
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    CHECK(statm != NULL && fscanf(statm, "%*s %ld", &pages) == 1);
    fclose(statm);
    return pages * 4;
}

#endif
