// replay: repeats a recorded program's calls to malloc.
//
// The plan is a file that `allod_trace::plan` made: a list of operations for each thread, and a table of
// slots that hold blocks. It is in memory before the clock starts, and only the operations call malloc
// while it runs. A block that passes between threads has its own slot, to which its pointer is written
// once: the thread that frees the block waits for that, and for nothing else. A thread is started where
// the program started it, as far as the trace shows.
//
// Blocks are touched as a program would: a byte in each page and the last byte. With --verify they
// are filled and read back; with --samples memory is sampled during the replay. Both make it
// slower, and are not for timing.
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MALLOC = 1, CALLOC, ALIGNED, REALLOC, FREE, FREE_NULL, SPAWN, OLD, WAIT = 16, SHARE = 32 };
enum { KIND_SHIFT = 56, ALIGN_SHIFT = 48, PAGE = 4096, STACK = 256 << 10 };

// The most bytes of a block that are touched.
static const size_t TOUCHED = (size_t)64 << 20;
static const uint64_t SIZE_MASK = ((uint64_t)1 << ALIGN_SHIFT) - 1;

struct operation {
    uint64_t word; // kind, alignment, size
    uint32_t from, to;
};

// What --verify knows about the block in a slot.
struct seen {
    uint64_t size, tag;
};

static struct {
    uint64_t threads, calls;
    const uint64_t *lengths;          // operations of each thread
    const struct operation *operations;
    _Atomic(char *) *slots;
    struct seen *seen;                // with --verify
    const struct operation **begins;  // where each thread's operations begin
    sem_t ended;                      // posted by each thread but the first
    atomic_uint_fast64_t live, peak;  // bytes, with --verify
    atomic_uint_fast64_t done;        // operations, with --samples
    uint64_t per_sample;
    long *samples;
} replay;

static void *thread(void *which);

static void spawn(uint32_t which) {
    pthread_attr_t attributes;
    pthread_t id;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&id, &attributes, thread, (void *)(uintptr_t)which)) fail("cannot start a thread");
    pthread_attr_destroy(&attributes);
}

// The block in a slot, once it is there.
ALWAYS_INLINE char *wait_for(uint32_t slot) {
    char *p;
    for (unsigned tries = 0; !(p = atomic_load_explicit(&replay.slots[slot], memory_order_acquire)); tries++)
        if (tries > 100) sched_yield();
    return p;
}

ALWAYS_INLINE void touch(char *p, size_t from, size_t size) {
    if (!size) return;
    size_t end = size < TOUCHED ? size : TOUCHED;
    for (size_t at = from & -(size_t)PAGE; at < end; at += PAGE) p[at] = 1;
    p[size - 1] = 1;
}

// Writes a pattern into a block, or checks it.
static void fill(char *p, size_t size, uint64_t tag) {
    size_t at = 0, end = size < TOUCHED ? size : TOUCHED;
    for (; at + 8 <= end; at += 8) store_word(p + at, tag + at);
    for (; at < end; at++) p[at] = (char)(tag + at);
}

static void prove(const char *p, size_t size, uint64_t tag) {
    size_t at = 0, end = size < TOUCHED ? size : TOUCHED;
    for (; at + 8 <= end; at += 8)
        if (load_word(p + at) != tag + at) fail("a block lost its contents");
    for (; at < end; at++)
        if (p[at] != (char)(tag + at)) fail("a block lost its contents");
}

static void prove_zero(const char *p, size_t size) {
    for (size_t at = 0; at < size && at < TOUCHED; at++)
        if (p[at]) fail("a block of calloc was not zero");
}

static void prove_aligned(const char *p, size_t size, unsigned align_log2) {
    size_t least = size < 16 ? 8 : 16;
    size_t align = (size_t)1 << align_log2;
    if ((uintptr_t)p & ((align > least ? align : least) - 1)) fail("a block was misaligned");
}

static void grow_peak(uint64_t more, uint64_t less) {
    uint64_t live = atomic_fetch_add(&replay.live, more - less) + more - less;
    uint64_t peak = atomic_load(&replay.peak);
    while (live > peak && !atomic_compare_exchange_weak(&replay.peak, &peak, live)) {}
}

static void sample(void) {
    uint64_t done = atomic_fetch_add(&replay.done, 1) + 1;
    if (done % replay.per_sample == 0) replay.samples[done / replay.per_sample - 1] = resident_kib();
}

// One operation; returns the number of its list entries.
ALWAYS_INLINE size_t perform(const struct operation *o, bool verify) {
    unsigned kind = (unsigned)(o->word >> KIND_SHIFT);
    unsigned align_log2 = o->word >> ALIGN_SHIFT & 0xFF;
    size_t size = o->word & SIZE_MASK, old_size = 0;
    char *p, *old = NULL;
    switch (kind & 15) {
    case MALLOC: p = malloc(size); break;
    case CALLOC:
        p = calloc(1, size);
        if (verify && p) prove_zero(p, size);
        break;
    case ALIGNED: {
        void *out = NULL;
        if (posix_memalign(&out, (size_t)1 << (align_log2 < 3 ? 3 : align_log2), size)) out = NULL;
        p = out;
        break;
    }
    case REALLOC:
        old = kind & WAIT ? wait_for(o->from) : atomic_load_explicit(&replay.slots[o->from], memory_order_relaxed);
        old_size = o[1].word & SIZE_MASK;
        if (verify) prove(old, old_size, replay.seen[o->from].tag);
        p = realloc(old, size);
        // The bytes after the last whole word of the shorter size have another pattern in the longer
        // one.
        if (verify && p) prove(p, (old_size < size ? old_size : size) & -(size_t)8, replay.seen[o->from].tag);
        break;
    case FREE:
        old = kind & WAIT ? wait_for(o->from) : atomic_load_explicit(&replay.slots[o->from], memory_order_relaxed);
        if (verify) {
            old_size = replay.seen[o->from].size;
            prove(old, old_size, replay.seen[o->from].tag);
            grow_peak(0, old_size);
        }
        free(old);
        return 1;
    case FREE_NULL: free(NULL); return 1;
    case SPAWN: spawn(o->to); return 1;
    default: fail("the plan is damaged");
    }
    // Some allocators have no block of size 0; the slot needs one.
    if (__builtin_expect(!p && !size, 0)) p = malloc(1);
    if (__builtin_expect(!p, 0)) fail("an allocation failed that succeeded when it was recorded");
    if (verify) {
        prove_aligned(p, size, align_log2);
        uint64_t tag = ((uint64_t)(uintptr_t)o << 8) * 0x9E3779B97F4A7C15u;
        fill(p, size, tag);
        replay.seen[o->to] = (struct seen){size, tag};
        grow_peak(size, old_size);
    } else {
        touch(p, old_size, size);
    }
    atomic_store_explicit(&replay.slots[o->to], p, kind & SHARE ? memory_order_release : memory_order_relaxed);
    return (kind & 15) == REALLOC ? 2 : 1;
}

static void run(uint64_t which) {
    const struct operation *o = replay.begins[which], *end = o + replay.lengths[which];
    if (replay.samples) {
        while (o < end) {
            unsigned kind = o->word >> KIND_SHIFT & 15;
            o += perform(o, false);
            if (kind != SPAWN) sample();
        }
    } else if (replay.seen) {
        while (o < end) o += perform(o, true);
    } else {
        while (o < end) o += perform(o, false);
    }
}

static void *thread(void *which) {
    run((uintptr_t)which);
    sem_post(&replay.ended);
    return NULL;
}

static const uint64_t *load(const char *file, size_t *length) {
    int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    struct stat stat;
    if (fd < 0 || fstat(fd, &stat)) fail("cannot open the plan");
    *length = (size_t)stat.st_size;
    void *plan = mmap(NULL, *length, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (plan == MAP_FAILED) fail("cannot read the plan");
    close(fd);
    return plan;
}

// Our own memory, resident before the clock starts.
static void *present(size_t bytes) { return memset(own_memory(bytes + 1), 0, bytes + 1); }

void replay_plan(struct work *w) {
    size_t length;
    const uint64_t *plan = load(w->plan, &length);
    if (length < 40 || memcmp(plan, "ALPLAN01", 8)) fail("this is no plan of this version");
    uint64_t operations = plan[2], slots = plan[3];
    replay.threads = plan[1];
    replay.calls = plan[4];
    if (length != 8 * (5 + replay.threads + 2 * operations)) fail("the plan is damaged");
    replay.lengths = plan + 5;
    replay.operations = (const void *)(plan + 5 + replay.threads);
    replay.slots = present(slots * sizeof *replay.slots);
    replay.begins = present(replay.threads * sizeof *replay.begins);
    const struct operation *at = replay.operations;
    for (uint64_t i = 0; i < replay.threads; at += replay.lengths[i++]) replay.begins[i] = at;
    if (w->verify) replay.seen = present(slots * sizeof *replay.seen);
    if (w->samples) {
        replay.per_sample = replay.calls / w->samples ? replay.calls / w->samples : 1;
        replay.samples = present((replay.calls / replay.per_sample + 1) * sizeof *replay.samples);
    }
    sem_init(&replay.ended, 0, 0);

    w->rss_before_kib = resident_kib();
    uint64_t start = now_ns();
    if (replay.threads) run(0);
    for (uint64_t i = 1; i < replay.threads; i++)
        while (sem_wait(&replay.ended) && errno == EINTR) {}
    w->ns = now_ns() - start;
    w->rss_after_kib = resident_kib();
    w->rss_peak_kib = peak_resident_kib();
    w->operations = replay.calls;
    w->peak_bytes = atomic_load(&replay.peak);
    w->sampled_kib = replay.samples;
    w->sampled = replay.samples ? replay.calls / replay.per_sample : 0;
}
