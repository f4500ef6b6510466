// A burst of allocation, everything freed, then idleness: how much memory is given back
// without being asked for?
#include "work.h"

#include <time.h>

void burst_idle(struct work *w) {
    uint64_t count = scaled(w, 120000);
    struct block *blocks = own_memory(count * sizeof *blocks);
    uint32_t *order = own_memory(count * sizeof *order);
    uint64_t seed = 0xA110D;
    for (uint64_t i = 0; i < count; i++) {
        blocks[i].size = random_between(&seed, 16, 2048);
        order[i] = (uint32_t)i;
    }
    shuffle(order, count, &seed);
    w->rss_before_kib = resident_kib();
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < count; i++) {
        blocks[i].p = malloc(blocks[i].size);
        if (!blocks[i].p) fail("malloc returned null");
        mark(&w->balance, blocks[i].p, blocks[i].size, i);
    }
    w->ns = now_ns() - start;
    w->rss_peak_kib = resident_kib();
    start = now_ns();
    for (uint64_t i = 0; i < count; i++) {
        struct block *b = &blocks[order[i]];
        unmark(&w->balance, b->p, b->size);
        free(b->p);
    }
    w->ns += now_ns() - start;
    w->operations = 2 * count;
    struct timespec second = {1, 0};
    nanosleep(&second, NULL);
    w->rss_after_kib = resident_kib();
}
