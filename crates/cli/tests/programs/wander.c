// Threads pass blocks on while they resize them: every order between threads matters.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS = 4, SLOTS = 16, STEPS = 50000 };
static _Atomic(void *) slots[SLOTS];

static void *wander(void *seed) {
    unsigned state = (unsigned)(long)seed * 2654435761u + 1;
    for (int i = 0; i < STEPS; i++) {
        state = state * 1664525 + 1013904223;
        size_t size = 1 + (state >> 8) % 3000;
        void *mine = atomic_exchange(&slots[state >> 28], NULL);
        if (mine && state & 0x10000) mine = realloc(mine, size);
        else if (mine && state & 0x20000) { free(mine); mine = NULL; }
        else if (!mine) mine = malloc(size);
        free(atomic_exchange(&slots[(state >> 24) % SLOTS], mine));
        if (i % 8 == 0) sched_yield();
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, wander, (void *)i);
    for (long i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < SLOTS; i++) free(slots[i]);
}
