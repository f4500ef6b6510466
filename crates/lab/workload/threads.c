// Threads: blocks that one thread allocates and another frees, and threads that come and go.
#include "work.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SIZES = 1 << 12 };

static uint16_t *draw_sizes(uint64_t lo, uint64_t hi) {
    uint16_t *sizes = own_memory(SIZES * sizeof *sizes);
    uint64_t seed = 0xA110D;
    for (unsigned i = 0; i < SIZES; i++) sizes[i] = (uint16_t)random_between(&seed, lo, hi);
    return sizes;
}

static pthread_t start_thread(void *(*body)(void *), void *arg) {
    pthread_t t;
    if (pthread_create(&t, NULL, body, arg) != 0) fail("cannot start a thread");
    return t;
}

// ---- producer-consumer: half of the threads only allocate, the others only free -----------------

// A ring between one producer and one consumer. Positions are published once per group, so that
// the hand-over itself costs little compared with the allocator.
enum { RING = 1 << 13, GROUP = 64 };

struct channel {
    _Alignas(64) _Atomic uint64_t filled;
    _Alignas(64) _Atomic uint64_t emptied;
    _Alignas(64) struct block ring[RING];
    const uint16_t *sizes;
    uint64_t count;
    pthread_barrier_t *ready;
    uint64_t produced, consumed; // balances of the two sides
};

// Waits without occupying a processor that the other side might need.
ALWAYS_INLINE uint64_t wait_past(_Atomic uint64_t *position, uint64_t value) {
    uint64_t seen;
    for (unsigned spins = 0; (seen = atomic_load_explicit(position, memory_order_acquire)) <= value;)
        if (++spins % 512 == 0) sched_yield();
    return seen;
}

static void *produce(void *arg) {
    struct channel *c = arg;
    uint64_t balance = 0;
    pthread_barrier_wait(c->ready);
    for (uint64_t i = 0; i < c->count; i += GROUP) {
        if (i >= RING) wait_past(&c->emptied, i - RING + GROUP - 1);
        for (uint64_t k = i; k < i + GROUP; k++) {
            size_t size = c->sizes[k % SIZES];
            char *p = malloc(size);
            if (!p) fail("malloc returned null");
            mark(&balance, p, size, k);
            c->ring[k % RING] = (struct block){p, size};
        }
        atomic_store_explicit(&c->filled, i + GROUP, memory_order_release);
    }
    c->produced = balance;
    return NULL;
}

static void *consume(void *arg) {
    struct channel *c = arg;
    uint64_t balance = 0;
    pthread_barrier_wait(c->ready);
    for (uint64_t i = 0; i < c->count; i += GROUP) {
        wait_past(&c->filled, i);
        for (uint64_t k = i; k < i + GROUP; k++) {
            struct block b = c->ring[k % RING];
            unmark(&balance, b.p, b.size);
            free(b.p);
        }
        atomic_store_explicit(&c->emptied, i + GROUP, memory_order_release);
    }
    c->consumed = balance;
    return NULL;
}

void producer_consumer(struct work *w) {
    unsigned pairs = w->threads / 2 ? w->threads / 2 : 1;
    struct channel *channels = own_memory(pairs * sizeof *channels);
    pthread_t *threads = own_memory(2 * pairs * sizeof *threads);
    const uint16_t *sizes = draw_sizes(16, 512);
    uint64_t count = scaled(w, 8000000) / GROUP * GROUP + GROUP;
    pthread_barrier_t ready;
    pthread_barrier_init(&ready, NULL, 2 * pairs + 1);
    for (unsigned i = 0; i < pairs; i++) {
        channels[i].sizes = sizes;
        channels[i].count = count;
        channels[i].ready = &ready;
        threads[2 * i] = start_thread(produce, &channels[i]);
        threads[2 * i + 1] = start_thread(consume, &channels[i]);
    }
    pthread_barrier_wait(&ready);
    uint64_t start = now_ns();
    for (unsigned i = 0; i < 2 * pairs; i++) pthread_join(threads[i], NULL);
    w->ns = now_ns() - start;
    w->operations = 2 * count * pairs;
    for (unsigned i = 0; i < pairs; i++) w->balance += channels[i].produced + channels[i].consumed;
}

// ---- larson: a server whose workers replace one another ----------------------------------------

// After Larson and Krishnan, "Memory allocation for long-running server applications" (1998): a
// worker replaces random blocks of a table, then exits and leaves its blocks to a new worker. Here
// tables also change hands between the workers that live at the same time.
enum { TABLE = 1000, ROUND = 20000 };

struct table {
    struct block blocks[TABLE];
    uint64_t balance;
    uint64_t seed;
};

static struct {
    _Atomic(struct table *) mailbox;
    const uint16_t *sizes;
} server;

struct worker {
    struct table *table;
    uint64_t rounds;
};

static void *serve_round(void *arg) {
    struct worker *self = arg;
    struct table *t = atomic_exchange(&server.mailbox, self->table);
    uint64_t random = t->seed, balance = 0;
    for (unsigned i = 0; i < ROUND; i++) {
        // One multiplication: the sequences need to differ between tables, but not to be good.
        random = random * 6364136223846793005u + 1442695040888963407u;
        struct block *b = &t->blocks[(random >> 32) % TABLE];
        unmark(&balance, b->p, b->size);
        free(b->p);
        b->size = server.sizes[(random >> 48) % SIZES];
        b->p = malloc(b->size);
        if (!b->p) fail("malloc returned null");
        mark(&balance, b->p, b->size, i);
    }
    t->balance += balance;
    t->seed = random;
    self->table = t;
    return NULL;
}

// Follows one worker after the other.
static void *serve(void *arg) {
    struct worker *self = arg;
    for (uint64_t i = 0; i < self->rounds; i++) pthread_join(start_thread(serve_round, self), NULL);
    return NULL;
}

static struct table *fill_table(uint64_t seed) {
    struct table *t = own_memory(sizeof *t);
    t->seed = seed;
    for (unsigned i = 0; i < TABLE; i++) {
        size_t size = server.sizes[next_random(&seed) % SIZES];
        t->blocks[i] = (struct block){malloc(size), size};
        if (!t->blocks[i].p) fail("malloc returned null");
        mark(&t->balance, t->blocks[i].p, size, i);
    }
    return t;
}

static void empty_table(struct work *w, struct table *t) {
    for (unsigned i = 0; i < TABLE; i++) {
        unmark(&t->balance, t->blocks[i].p, t->blocks[i].size);
        free(t->blocks[i].p);
    }
    w->balance += t->balance;
}

void larson(struct work *w) {
    server.sizes = draw_sizes(16, 1000);
    struct worker *workers = own_memory(w->threads * sizeof *workers);
    pthread_t *threads = own_memory(w->threads * sizeof *threads);
    uint64_t rounds = scaled(w, 160);
    atomic_store(&server.mailbox, fill_table(1));
    for (unsigned i = 0; i < w->threads; i++) workers[i] = (struct worker){fill_table(i + 2), rounds};
    uint64_t start = now_ns();
    for (unsigned i = 0; i < w->threads; i++) threads[i] = start_thread(serve, &workers[i]);
    for (unsigned i = 0; i < w->threads; i++) pthread_join(threads[i], NULL);
    w->ns = now_ns() - start;
    w->operations = 2 * rounds * ROUND * w->threads;
    empty_table(w, atomic_load(&server.mailbox));
    for (unsigned i = 0; i < w->threads; i++) empty_table(w, workers[i].table);
}

// ---- thread-churn: threads that live for a few allocations -------------------------------------

enum { SHORT_LIFE = 64 };

struct churn {
    const uint16_t *sizes;
    uint64_t lives;
    uint64_t balance;
};

static void *short_life(void *arg) {
    struct churn *c = arg;
    struct block blocks[SHORT_LIFE];
    for (unsigned i = 0; i < SHORT_LIFE; i++) {
        blocks[i] = (struct block){malloc(c->sizes[i]), c->sizes[i]};
        if (!blocks[i].p) fail("malloc returned null");
        mark(&c->balance, blocks[i].p, blocks[i].size, i);
    }
    for (unsigned i = 0; i < SHORT_LIFE; i++) {
        unmark(&c->balance, blocks[i].p, blocks[i].size);
        free(blocks[i].p);
    }
    return NULL;
}

static void *churn(void *arg) {
    struct churn *c = arg;
    for (uint64_t i = 0; i < c->lives; i++) pthread_join(start_thread(short_life, c), NULL);
    return NULL;
}

void thread_churn(struct work *w) {
    struct churn *churns = own_memory(w->threads * sizeof *churns);
    pthread_t *threads = own_memory(w->threads * sizeof *threads);
    const uint16_t *sizes = draw_sizes(16, 512);
    uint64_t lives = scaled(w, 5000);
    for (unsigned i = 0; i < w->threads; i++) churns[i] = (struct churn){sizes, lives, 0};
    uint64_t start = now_ns();
    for (unsigned i = 0; i < w->threads; i++) threads[i] = start_thread(churn, &churns[i]);
    for (unsigned i = 0; i < w->threads; i++) pthread_join(threads[i], NULL);
    w->ns = now_ns() - start;
    w->operations = 2 * SHORT_LIFE * lives * w->threads;
    for (unsigned i = 0; i < w->threads; i++) w->balance += churns[i].balance;
}
