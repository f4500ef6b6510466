/* 100,000 threads born and gone, some at a time, each with a few remote frees.
 *
 * Promised: what a thread leaves behind serves the next ones; resident memory stays below 100 MB. */
#define _GNU_SOURCE
#include "corner.h"

enum { THREADS = 100000, BATCH = 50, EACH = 6 };

static void *from_main[BATCH][EACH], *to_main[BATCH][EACH];

/* Frees blocks of the first thread, leaves others to it, has some for itself. */
static void *live(void *number) {
    size_t n = (size_t)(uintptr_t)number;
    for (size_t i = 0; i < EACH; i++) {
        free(from_main[n][i]);
        size_t size = 20 + n * i * 37;
        to_main[n][i] = malloc(size);
        CHECK(to_main[n][i] != NULL);
        memset(to_main[n][i], 1, size);
    }
    void *block = malloc(3000);
    CHECK(block != NULL);
    memset(block, 2, 3000);
    free(block);
    return NULL;
}

int main(void) {
    pthread_t threads[BATCH];
    long most = 0;
    watchdog(25);
    for (size_t born = 0; born < THREADS; born += BATCH) {
        for (size_t n = 0; n < BATCH; n++) {
            for (size_t i = 0; i < EACH; i++) {
                from_main[n][i] = malloc(16 + (born + n * 31 + i * 97) % 4000);
                CHECK(from_main[n][i] != NULL);
            }
            threads[n] = start_thread(live, (void *)n);
        }
        for (size_t n = 0; n < BATCH; n++) {
            join_thread(threads[n]);
            for (size_t i = 0; i < EACH; i++) free(to_main[n][i]);
        }
        if (born % 5000 == 0 && resident_kib() > most) most = resident_kib();
    }
    if (resident_kib() > most) most = resident_kib();
    printf("resident at most %ld KiB\n", most);
    fflush(stdout);
    CHECK(most < 100 << 10);
    return 0;
}
