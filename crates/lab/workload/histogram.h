// A histogram of times: exact below 256 ns, above that in steps of less than 1 %.
//
// It is a fixed table, so that counting a time is two loads, an addition and a store, and needs no
// memory from the allocator that is being measured.
#ifndef ALLOD_HISTOGRAM_H
#define ALLOD_HISTOGRAM_H

#include <stdint.h>

// Each doubling is divided into 2^FINE steps; 64 bits have fewer than 64 doublings.
enum { FINE = 7, STEPS_PER_DOUBLING = 1 << FINE, BUCKETS = 64 * STEPS_PER_DOUBLING };

struct histogram {
    uint64_t counts[BUCKETS];
    uint64_t total, longest;
};

static inline unsigned bucket_of(uint64_t ns) {
    if (ns < 2 * STEPS_PER_DOUBLING) return (unsigned)ns;
    unsigned shift = 63 - FINE - (unsigned)__builtin_clzll(ns);
    return shift * STEPS_PER_DOUBLING + (unsigned)(ns >> shift);
}

// The middle of a bucket's times.
static inline uint64_t value_of(unsigned bucket) {
    if (bucket < 2 * STEPS_PER_DOUBLING) return bucket;
    unsigned shift = bucket / STEPS_PER_DOUBLING - 1;
    uint64_t from = (uint64_t)(bucket % STEPS_PER_DOUBLING + STEPS_PER_DOUBLING) << shift;
    return from + ((uint64_t)1 << shift) / 2;
}

static inline void count_time(struct histogram *h, uint64_t ns) {
    h->counts[bucket_of(ns)]++;
    h->total++;
    if (ns > h->longest) h->longest = ns;
}

// The time that all but `above` millionths of the times do not exceed, within a bucket's width.
static inline uint64_t quantile(const struct histogram *h, uint64_t above) {
    uint64_t longer = (uint64_t)((unsigned __int128)h->total * above / 1000000), seen = 0;
    for (unsigned b = BUCKETS; b-- > 0;) {
        seen += h->counts[b];
        if (seen > longer) return value_of(b) < h->longest ? value_of(b) : h->longest;
    }
    return 0;
}

#endif
