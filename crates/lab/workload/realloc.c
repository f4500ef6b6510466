// Growing blocks.
#include "work.h"

enum { VECTORS = 64, PICKS = 1 << 15, LIMIT = 64 << 10 };

// A vector grows by half, keeps its contents, and starts again once it is past the limit.
ALWAYS_INLINE void grow(struct work *w, struct block *v, uint64_t tag) {
    unmark(&w->balance, v->p, v->size);
    if (v->size >= LIMIT) {
        free(v->p);
        *v = (struct block){malloc(16), 16};
    } else {
        uint64_t first = load_word(v->p), last = load_word(v->p + v->size - 8);
        size_t size = v->size + v->size / 2;
        char *p = realloc(v->p, size);
        if (!p) fail("realloc returned null");
        w->wrong += (load_word(p) != first) | (load_word(p + v->size - 8) != last);
        *v = (struct block){p, size};
    }
    if (!v->p) fail("malloc returned null");
    mark(&w->balance, v->p, v->size, tag);
}

void realloc_grow(struct work *w) {
    uint8_t *picks = own_memory(PICKS);
    struct block *vectors = own_memory(VECTORS * sizeof *vectors);
    uint64_t seed = 0xA110D;
    for (unsigned i = 0; i < PICKS; i++) picks[i] = (uint8_t)(next_random(&seed) % VECTORS);
    for (unsigned i = 0; i < VECTORS; i++) {
        vectors[i] = (struct block){malloc(16), 16};
        if (!vectors[i].p) fail("malloc returned null");
        mark(&w->balance, vectors[i].p, 16, i);
    }
    uint64_t count = scaled(w, 1000000);
    for (uint64_t i = 0; i < count / 8 + VECTORS; i++) grow(w, &vectors[picks[i % PICKS]], i);
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < count; i++) grow(w, &vectors[picks[i % PICKS]], i);
    w->ns = now_ns() - start;
    w->operations = count;
    for (unsigned i = 0; i < VECTORS; i++) {
        unmark(&w->balance, vectors[i].p, vectors[i].size);
        free(vectors[i].p);
    }
}

// One buffer doubles from 4 KiB to 64 MiB; one operation is one such growth. Only the words at the
// ends of each size are touched: this shows whether bytes are copied or pages moved.
void realloc_64m(struct work *w) {
    uint64_t count = scaled(w, 8);
    for (uint64_t i = 0; i <= count; i++) {
        if (i == 1) w->ns = now_ns();
        char *p = NULL;
        for (size_t size = 4096; size <= (size_t)64 << 20; size *= 2) {
            p = realloc(p, size);
            if (!p) fail("realloc returned null");
            if (size == 4096) store_word(p, i);
            else w->wrong += load_word(p + size / 2 - 8) != size / 2;
            store_word(p + size - 8, size);
        }
        w->wrong += load_word(p) != i;
        free(p);
    }
    w->ns = now_ns() - w->ns;
    w->operations = count;
}
