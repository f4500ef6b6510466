// Latency: how long does a program wait for its allocator at worst?
//
// One thread replaces blocks in a table and times every group of 20 operations. Another fills memory,
// frees all of it and rests, so that fresh pages are taken and given back meanwhile. The rest is
// longer than the delay after which allocators give memory back. The run lasts a fixed time, so faster
// allocators see no more of the other thread's bursts. The clock is read once per group: the end of
// one is the start of the next.
#include "histogram.h"
#include "work.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

// A step is two operations, so a group is 10 of them.
enum { GROUP = 10, SLOTS = 4000, STEPS = 1 << 15 };
static const uint64_t FULL_NS = 3000000000, REST_NS = 1200000000, NAP_NS = 5000000;

// ---- the thread in the background ---------------------------------------------------------------

enum { BURST_BLOCKS = 33000 };

struct background {
    struct block *blocks;
    const uint32_t *order;
    _Atomic bool done;
    uint64_t balance;
};

static void rest(const struct background *b) {
    uint64_t end = now_ns() + REST_NS;
    while (!atomic_load(&b->done) && now_ns() < end) {
        struct timespec nap = {0, (long)NAP_NS};
        nanosleep(&nap, NULL);
    }
}

static void *burst_and_rest(void *arg) {
    struct background *b = arg;
    while (!atomic_load(&b->done)) {
        unsigned filled = 0;
        for (; filled < BURST_BLOCKS && !atomic_load(&b->done); filled++) {
            struct block *k = &b->blocks[filled];
            k->p = malloc(k->size);
            if (!k->p) fail("malloc returned null");
            for (size_t at = 4096; at + 8 < k->size; at += 4096) store_word(k->p + at, at);
            mark(&b->balance, k->p, k->size, filled);
        }
        // Oldest first, if it was interrupted.
        bool whole = filled == BURST_BLOCKS;
        for (unsigned i = 0; i < filled; i++) {
            struct block *k = &b->blocks[whole ? b->order[i] : i];
            unmark(&b->balance, k->p, k->size);
            free(k->p);
        }
        rest(b);
    }
    return NULL;
}

// About 32 MB in blocks of 16 to 2048 bytes and as much in blocks of 8 to 120 KiB.
static struct background *prepare_background(void) {
    struct background *b = own_memory(sizeof *b);
    uint32_t *order = own_memory(BURST_BLOCKS * sizeof *order);
    b->blocks = own_memory(BURST_BLOCKS * sizeof *b->blocks);
    uint64_t seed = 0xB0857;
    for (unsigned i = 0; i < BURST_BLOCKS; i++) {
        bool small = i % 66 != 0;
        b->blocks[i].size =
            small ? random_between(&seed, 16, 2048) : random_between(&seed, 8 << 10, 120 << 10);
        order[i] = i;
    }
    shuffle(order, BURST_BLOCKS, &seed);
    b->order = order;
    return b;
}

// ---- the thread that is timed -------------------------------------------------------------------

struct step {
    uint32_t slot, size;
};

// One of 32 blocks is larger, up to 64 KiB, so that slabs and spans come and go, too.
static uint32_t draw_size(uint64_t *seed) {
    bool small = next_random(seed) % 32 != 0;
    return (uint32_t)(small ? random_between(seed, 16, 1024) : random_between(seed, 4096, 64 << 10));
}

ALWAYS_INLINE void replace(uint64_t *balance, struct block *slots, const struct step *s) {
    struct block *b = &slots[s->slot];
    unmark(balance, b->p, b->size);
    free(b->p);
    b->p = malloc(s->size);
    if (!b->p) fail("malloc returned null");
    b->size = s->size;
    mark(balance, b->p, b->size, s->size);
}

void latency(struct work *w) {
    struct step *steps = own_memory(STEPS * sizeof *steps);
    struct block *slots = own_memory(SLOTS * sizeof *slots);
    struct histogram *h = own_memory(sizeof *h);
    memset(h, 0, sizeof *h); // so that none of its pages is touched first while the clock runs
    uint64_t seed = 0xA110D;
    for (unsigned i = 0; i < STEPS; i++)
        steps[i] = (struct step){(uint32_t)(next_random(&seed) % SLOTS), draw_size(&seed)};
    uint64_t balance = 0;
    for (unsigned i = 0; i < SLOTS; i++) {
        slots[i] = (struct block){malloc(steps[i].size), steps[i].size};
        if (!slots[i].p) fail("malloc returned null");
        mark(&balance, slots[i].p, slots[i].size, i);
    }
    for (unsigned i = 0; i < STEPS; i++) replace(&balance, slots, &steps[i]);

    struct background *b = prepare_background();
    pthread_t other;
    if (pthread_create(&other, NULL, burst_and_rest, b) != 0) fail("cannot start a thread");
    uint64_t start = now_ns(), end = start + scaled(w, FULL_NS), from = start;
    for (uint64_t next = 0; from < end; next = (next + GROUP) % (STEPS - GROUP)) {
        for (unsigned i = 0; i < GROUP; i++) replace(&balance, slots, &steps[next + i]);
        uint64_t now = now_ns();
        count_time(h, now - from);
        from = now;
    }
    w->ns = from - start;
    w->operations = 2 * GROUP * h->total;
    atomic_store(&b->done, true);
    pthread_join(other, NULL);

    static const uint64_t above[] = {500000, 10000, 1000, 100};
    for (unsigned i = 0; i < 4; i++) w->group_ns[i] = quantile(h, above[i]);
    w->group_ns[4] = h->longest;
    for (unsigned i = 0; i < SLOTS; i++) {
        unmark(&balance, slots[i].p, slots[i].size);
        free(slots[i].p);
    }
    w->balance = balance + b->balance;
}
