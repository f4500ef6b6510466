/* 100,000 short threads: their memory is used again, whether they free it or others do.
 * modes: preload static */
#define _GNU_SOURCE
#include "threads.h"

enum { WAVES = 12500, WAVE = 8, BLOCKS = 40 };

/* Allocates blocks of several sizes, frees half, and hands the rest to whoever joins. */
static void *work(void *unused) {
    void **blocks = malloc(BLOCKS * sizeof *blocks);
    (void)unused;
    CHECK(blocks != NULL);
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc((size_t)(i * 97));
        CHECK(blocks[i] != NULL);
        memset(blocks[i], i, (size_t)(i * 97));
    }
    for (int i = 0; i < BLOCKS; i += 2) {
        free(blocks[i]);
        blocks[i] = NULL;
    }
    return blocks;
}

static void join_and_free(pthread_t thread) {
    void *result;
    CHECK(pthread_join(thread, &result) == 0);
    void **blocks = result;
    for (int i = 0; i < BLOCKS; i++) {
        CHECK(blocks[i] == NULL || is_filled(blocks[i], i, (size_t)(i * 97)));
        free(blocks[i]);
    }
    free(blocks);
}

static void run_waves(int waves) {
    pthread_t threads[WAVE];
    for (int wave = 0; wave < waves; wave++) {
        for (int i = 0; i < WAVE; i++) threads[i] = start_thread(work, NULL);
        for (int i = 0; i < WAVE; i++) join_and_free(threads[i]);
    }
}

int main(void) {
    check_allod_is_malloc();
    run_waves(WAVES / 10);
    long early = resident_kib();
    run_waves(WAVES - WAVES / 10);
    long late = resident_kib();
    fprintf(stderr, "resident after a tenth %ld KiB, at the end %ld KiB\n", early, late);
    CHECK(late <= early + 16384); /* 180 bytes a thread */
    return 0;
}
