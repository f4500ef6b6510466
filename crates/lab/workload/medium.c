// Bursts of medium blocks: about 80 MB are allocated, then all freed in the same order, again and
// again, like a program that loads, works and drops. One operation is one allocation and its free.
//
// Either only the first word of a block is written, to show the cost of the allocator and of fresh
// pages, or the whole block, like a program that fills its buffers.
#include "work.h"

enum { BURST = 80000000 };

ALWAYS_INLINE void bursts(struct work *w, bool whole, char **blocks, uint64_t count) {
    size_t size = w->param;
    uint64_t balance = 0;
    for (uint64_t n = 0; n < count; n++) {
        for (unsigned i = 0; i < BURST / size; i++) {
            char *p = malloc(size);
            if (!p) fail("malloc returned null");
            if (whole) {
                memset(p, (int)n, size);
                mark(&balance, p, size, i + n);
            } else {
                store_word(p, i + n);
                balance += i + n;
            }
            blocks[i] = p;
        }
        for (unsigned i = 0; i < BURST / size; i++) {
            if (whole) unmark(&balance, blocks[i], size);
            else balance -= load_word(blocks[i]);
            free(blocks[i]);
        }
    }
    w->balance += balance;
}

ALWAYS_INLINE void run(struct work *w, bool whole, uint64_t full) {
    char **blocks = own_memory(BURST / w->param * sizeof *blocks);
    uint64_t count = scaled(w, full);
    bursts(w, whole, blocks, count / 16 + 1);
    uint64_t start = now_ns();
    bursts(w, whole, blocks, count);
    w->ns = now_ns() - start;
    w->operations = BURST / w->param * count;
}

void medium(struct work *w) { run(w, false, 100); }
void medium_whole(struct work *w) { run(w, true, 20); }
