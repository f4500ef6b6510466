// Four pairs of threads: one allocates, the other frees.
#include <pthread.h>
#include <stdlib.h>

enum { PAIRS = 4, BLOCKS = 5000 };
static void *blocks[PAIRS][BLOCKS];

static void *allocate(void *which) {
    for (int i = 0; i < BLOCKS; i++) blocks[(long)which][i] = malloc(1000 + (size_t)i % 100);
    return NULL;
}

static void *release(void *which) {
    for (int i = 0; i < BLOCKS; i++) free(blocks[(long)which][i]);
    return NULL;
}

int main(void) {
    pthread_t threads[PAIRS];
    for (long i = 0; i < PAIRS; i++) pthread_create(&threads[i], NULL, allocate, (void *)i);
    for (long i = 0; i < PAIRS; i++) pthread_join(threads[i], NULL);
    for (long i = 0; i < PAIRS; i++) pthread_create(&threads[i], NULL, release, (void *)i);
    for (long i = 0; i < PAIRS; i++) pthread_join(threads[i], NULL);
}
