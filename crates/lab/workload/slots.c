// Slots: a table of live blocks; every step replaces a random one.
//
// A step frees the slot's block and allocates another of a new size: two operations, and no branch
// of the workload itself that the processor could mispredict.
#include "work.h"

enum kind { PLAIN, ZEROED, ALIGNED, TOUCHED };

struct step {
    uint16_t slot;
    uint16_t align_log2;
    uint32_t size;
};

// Steps are drawn once and replayed: 256 KiB that stream through the cache, too many for a branch
// predictor to learn.
enum { STEPS = 1 << 15 };

static struct step *draw_steps(unsigned slots, uint64_t lo, uint64_t hi) {
    struct step *steps = own_memory(STEPS * sizeof *steps);
    uint64_t seed = 0xA110D;
    for (int i = 0; i < STEPS; i++) {
        steps[i].slot = (uint16_t)(next_random(&seed) % slots);
        steps[i].align_log2 = (uint16_t)random_between(&seed, 5, 12);
        steps[i].size = (uint32_t)random_between(&seed, lo, hi);
    }
    return steps;
}

ALWAYS_INLINE char *allocate(struct work *w, enum kind kind, const struct step *s) {
    void *p = NULL;
    if (kind == ZEROED) {
        char *c = p = calloc(1, s->size);
        if (!p) fail("calloc returned null");
        w->wrong += (load_word(c) | load_word(c + s->size / 2 - 4) | load_word(c + s->size - 8)) != 0;
        store_word(c + s->size / 2 - 4, ~(uint64_t)0);
    } else if (kind == ALIGNED) {
        size_t align = (size_t)1 << s->align_log2;
        if (posix_memalign(&p, align, s->size) != 0) fail("posix_memalign failed");
        w->wrong += ((uintptr_t)p & (align - 1)) != 0;
    } else {
        p = malloc(s->size);
        if (!p) fail("malloc returned null");
    }
    if (kind == TOUCHED)
        for (size_t at = 4096; at + 8 < s->size; at += 4096) store_word((char *)p + at, at);
    return p;
}

ALWAYS_INLINE void replace(struct work *w, enum kind kind, struct block *slots,
                           const struct step *steps, uint64_t count) {
    uint64_t balance = 0;
    for (uint64_t i = 0; i < count; i++) {
        const struct step *s = &steps[i % STEPS];
        struct block *b = &slots[s->slot];
        unmark(&balance, b->p, b->size);
        free(b->p);
        b->p = allocate(w, kind, s);
        b->size = s->size;
        mark(&balance, b->p, b->size, i);
    }
    w->balance += balance;
}

ALWAYS_INLINE void run(struct work *w, enum kind kind, unsigned slots, uint64_t lo, uint64_t hi,
                       uint64_t full) {
    const struct step *steps = draw_steps(slots, lo, hi);
    struct block *table = own_memory(slots * sizeof *table);
    for (unsigned i = 0; i < slots; i++) {
        table[i] = (struct block){allocate(w, kind, &steps[i % STEPS]), steps[i % STEPS].size};
        mark(&w->balance, table[i].p, table[i].size, i);
    }
    uint64_t count = scaled(w, full / 2);
    // Every slot is replaced a few times before the clock starts.
    replace(w, kind, table, steps, count / 8 + slots);
    uint64_t start = now_ns();
    replace(w, kind, table, steps, count);
    w->ns = now_ns() - start;
    w->operations = 2 * count;
    for (unsigned i = 0; i < slots; i++) {
        unmark(&w->balance, table[i].p, table[i].size);
        free(table[i].p);
    }
}

void random_mixed(struct work *w) { run(w, PLAIN, 400, 16, 1040, 20000000); }

// The bands B4, B5 and B6 in proportion to their widths: 14.29, 28.57 and 57.14 % of operations.
void band_mix(struct work *w) { run(w, PLAIN, 400, 257, 2048, 20000000); }

void slots_20k(struct work *w) { run(w, PLAIN, 20000, 16, 1040, 10000000); }
void blocks_8k_600k(struct work *w) { run(w, PLAIN, 64, 8 << 10, 600 << 10, 4000000); }
void zeroed(struct work *w) { run(w, ZEROED, 400, 16, 2048, 6000000); }
void aligned(struct work *w) { run(w, ALIGNED, 400, 16, 2048, 6000000); }
void large(struct work *w) { run(w, TOUCHED, 16, 256 << 10, 4 << 20, 10000); }
