// What all workloads share: the clock, random numbers, memory outside the allocator, and the check that
// blocks keep their contents.
//
// A workload prepares everything it can before the clock starts: sizes, slots and orders are drawn once
// from a fixed seed and replayed, so the measured loop has only the calls to the allocator, one write to
// the first and the last word of each block, and one read of both before it is freed.
#ifndef ALLOD_WORK_H
#define ALLOD_WORK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

// A workload's parameters and its results.
struct work {
    uint64_t param;     // the parameter of workloads that share a function, such as the size of a block
    uint64_t scale_ppm; // how much of the full length to run, in millionths
    unsigned threads;   // threads for the workloads that use them
    const char *plan;   // replay only: the file of the plan
    bool verify;        // replay only: fill blocks and read them back
    uint64_t samples;   // replay only: the number of memory samples

    uint64_t operations; // calls to the allocator, unless the workload says otherwise
    uint64_t ns;         // time of those operations
    uint64_t balance;    // words written into blocks minus words read back: 0 if all were kept
    uint64_t wrong;      // blocks that were misaligned or not zeroed
    long rss_before_kib, rss_peak_kib, rss_after_kib; // burst-idle only
    uint64_t peak_bytes;                              // replay with verify only
    const long *sampled_kib;                          // replay with samples only
    uint64_t sampled;
    uint64_t group_ns[5]; // latency only: times that 50, 99, 99.9, 99.99 and 100 % of the groups do not exceed
};

typedef void workload_fn(struct work *);

workload_fn random_mixed, band_mix, slots_20k, blocks_8k_600k, zeroed, aligned, large;
workload_fn pairs, batch_40, fifo_700, lifo, fifo;
workload_fn medium, medium_whole;
workload_fn realloc_grow, realloc_64m;
workload_fn producer_consumer, larson, thread_churn;
workload_fn burst_idle, latency;
workload_fn replay_plan;

// Stops with a message; for errors that are not the allocator's.
__attribute__((noreturn)) void fail(const char *what);

// Nanoseconds on a clock that only goes forward.
uint64_t now_ns(void);

// Zeroed memory that does not come from malloc; never given back.
void *own_memory(size_t bytes);

// Resident set of this process in KiB, now and at its peak.
long resident_kib(void);
long peak_resident_kib(void);

// SplitMix64.
ALWAYS_INLINE uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// A number from lo to hi, both included.
ALWAYS_INLINE uint64_t random_between(uint64_t *state, uint64_t lo, uint64_t hi) {
    return lo + next_random(state) % (hi - lo + 1);
}

// Puts numbers into a random order.
ALWAYS_INLINE void shuffle(uint32_t *v, uint64_t count, uint64_t *state) {
    for (uint64_t i = count - 1; i; i--) {
        uint64_t k = next_random(state) % (i + 1);
        uint32_t swap = v[i];
        v[i] = v[k];
        v[k] = swap;
    }
}

// How often to repeat something whose full length is `full`; at least once.
ALWAYS_INLINE uint64_t scaled(const struct work *w, uint64_t full) {
    uint64_t n = (uint64_t)((unsigned __int128)full * w->scale_ppm / 1000000);
    return n ? n : 1;
}

// A word at any address.
typedef uint64_t __attribute__((may_alias, aligned(1))) word;

ALWAYS_INLINE uint64_t load_word(const char *p) { return *(const word *)p; }
ALWAYS_INLINE void store_word(char *p, uint64_t v) { *(word *)p = v; }

// Makes memory opaque to the compiler, like a call to an unknown function.
ALWAYS_INLINE void opaque(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }

// Writes `tag` into the first and the last word of a block of at least 16 bytes. `balance` is a local
// variable of the measured loop, so that it stays in a register across the calls to the allocator.
ALWAYS_INLINE void mark(uint64_t *balance, char *p, size_t size, uint64_t tag) {
    store_word(p, tag);
    store_word(p + size - 8, tag);
    *balance += 2 * tag;
}

// Reads back what `mark` wrote. Blocks that overlap leave a balance.
ALWAYS_INLINE void unmark(uint64_t *balance, const char *p, size_t size) {
    *balance -= load_word(p) + load_word(p + size - 8);
}

// A block and its size, in a workload's slot.
struct block {
    char *p;
    size_t size;
};

#endif
