/* What handlers of fork do here: they use the heap as any code may. */
#ifndef HANDLERS_H
#define HANDLERS_H

#include "corner.h"

static volatile int handler_calls;

/* Blocks of every class, large ones, and enough of one size to need new slabs. */
static inline void use_the_whole_heap(void) {
    enum { MANY = 600 };
    void *blocks[MANY];
    for (size_t size = 1; size < 2 << 20; size += size / 8 + 1) {
        void *block = malloc(size);
        CHECK(block != NULL);
        mark(block, size, 1);
        free(block);
    }
    for (int i = 0; i < MANY; i++) {
        blocks[i] = calloc(1, 1000);
        CHECK(blocks[i] != NULL && is_filled(blocks[i], 0, 1000));
    }
    for (int i = 0; i < MANY; i++) {
        blocks[i] = realloc(blocks[i], 1500);
        CHECK(blocks[i] != NULL && is_filled(blocks[i], 0, 1000));
    }
    for (int i = 0; i < MANY; i++) free(blocks[i]);
    void *large = malloc(5 << 20);
    CHECK(large != NULL);
    mark(large, 5 << 20, 2);
    large = realloc(large, 11 << 20);
    CHECK(large != NULL && is_filled(large, 2, 32));
    free(large);
    void *aligned = aligned_alloc(8192, 16384);
    CHECK(aligned != NULL && is_aligned(aligned, 8192));
    free(aligned);
}

static void handler(void) {
    handler_calls++;
    free(malloc(5000));
    use_the_whole_heap();
}

#endif
