// Pairs and batches: blocks whose order of freeing is known.
#include "work.h"

ALWAYS_INLINE void pairs_of(struct work *w, size_t size, uint64_t count) {
    uint64_t balance = 0;
    for (uint64_t i = 0; i < count; i++) {
        char *p = malloc(size);
        if (!p) fail("malloc returned null");
        mark(&balance, p, size, i);
        opaque(p);
        unmark(&balance, p, size);
        free(p);
    }
    w->balance += balance;
}

// Only the null subject has it.
extern void allod_null_recycle(void) __attribute__((weak));

// A block is freed before the next one is allocated.
void pairs(struct work *w) {
    if (allod_null_recycle) allod_null_recycle();
    uint64_t count = scaled(w, 15000000);
    pairs_of(w, w->param, count / 16 + 1);
    uint64_t start = now_ns();
    pairs_of(w, w->param, count);
    w->ns = now_ns() - start;
    w->operations = 2 * count;
}

enum { BATCH = 1000 };

ALWAYS_INLINE void batches(struct work *w, const uint32_t *sizes, bool newest_first,
                           struct block *blocks, uint64_t count) {
    uint64_t balance = 0;
    for (uint64_t n = 0; n < count; n++) {
        for (unsigned i = 0; i < BATCH; i++) {
            char *p = malloc(sizes[i]);
            if (!p) fail("malloc returned null");
            blocks[i] = (struct block){p, sizes[i]};
            mark(&balance, p, sizes[i], i + n);
        }
        for (unsigned i = 0; i < BATCH; i++) {
            struct block *b = &blocks[newest_first ? BATCH - 1 - i : i];
            unmark(&balance, b->p, b->size);
            free(b->p);
        }
    }
    w->balance += balance;
}

ALWAYS_INLINE void run(struct work *w, size_t lo, size_t hi, bool newest_first, uint64_t full) {
    uint32_t *sizes = own_memory(BATCH * sizeof *sizes);
    struct block *blocks = own_memory(BATCH * sizeof *blocks);
    uint64_t seed = 0xA110D;
    for (unsigned i = 0; i < BATCH; i++) sizes[i] = (uint32_t)random_between(&seed, lo, hi);
    uint64_t count = scaled(w, full);
    batches(w, sizes, newest_first, blocks, count / 16 + 1);
    uint64_t start = now_ns();
    batches(w, sizes, newest_first, blocks, count);
    w->ns = now_ns() - start;
    w->operations = 2 * BATCH * count;
}

void batch_40(struct work *w) { run(w, 40, 40, false, 15000); }
void fifo_700(struct work *w) { run(w, 700, 700, false, 6000); }
void lifo(struct work *w) { run(w, 16, 512, true, 8000); }
void fifo(struct work *w) { run(w, 16, 512, false, 8000); }
