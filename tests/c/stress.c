/* Four threads allocate, resize, free and hand blocks to each other; every byte is checked.
 * modes: preload static */
#define _GNU_SOURCE
#include "threads.h"
#include <stdatomic.h>

enum { THREADS = 4, SLOTS = 512, SHARED = 1024, ROUNDS = 300000 };

/* Every block starts with its size and is filled with a byte that follows from it. */
struct block {
    size_t size;
    unsigned char fill[];
};

static _Atomic(struct block *) shared[SHARED];

static unsigned char fill_byte(const struct block *block) {
    return (unsigned char)(block->size * 31 + ((uintptr_t)block >> 4));
}

static size_t random_size(uint64_t *state) {
    size_t kind = next_random(state) % 1000;
    size_t limit = kind < 900 ? 600 : kind < 990 ? 8000 : kind < 999 ? 100000 : 3000000;
    return sizeof(struct block) + next_random(state) % limit;
}

static void fill(struct block *block, size_t size) {
    block->size = size;
    memset(block->fill, fill_byte(block), size - sizeof *block);
}

static void check_filled(const struct block *block) {
    CHECK(is_filled(block->fill, fill_byte(block), block->size - sizeof *block));
}

static struct block *make(uint64_t *state) {
    size_t size = random_size(state);
    struct block *block;
    switch (next_random(state) % 4) {
        case 0: block = calloc(1, size); break;
        case 1: block = aligned_alloc((size_t)16 << next_random(state) % 6, size); break;
        default: block = malloc(size); break;
    }
    CHECK(block != NULL);
    fill(block, size);
    return block;
}

static void discard(struct block *block) {
    if (block == NULL) return;
    check_filled(block);
    free(block);
}

static struct block *resize(struct block *block, uint64_t *state) {
    unsigned char byte = fill_byte(block);
    size_t old = block->size, size = random_size(state);
    check_filled(block);
    block = realloc(block, size);
    CHECK(block != NULL && block->size == old);
    CHECK(is_filled(block->fill, byte, (old < size ? old : size) - sizeof *block));
    fill(block, size);
    return block;
}

static void *work(void *seed) {
    struct block *own[SLOTS] = {NULL};
    uint64_t state = (uintptr_t)seed;
    for (int round = 0; round < ROUNDS; round++) {
        size_t slot = next_random(&state) % SLOTS;
        switch (next_random(&state) % 8) {
            case 0:
                if (own[slot] != NULL) own[slot] = resize(own[slot], &state);
                break;
            case 1:
            case 2: /* swap with another thread's block */
                own[slot] = atomic_exchange(&shared[next_random(&state) % SHARED], own[slot]);
                if (own[slot] != NULL) check_filled(own[slot]);
                break;
            default:
                discard(own[slot]);
                own[slot] = make(&state);
        }
    }
    for (int i = 0; i < SLOTS; i++) discard(own[i]);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    check_allod_is_malloc();
    for (uintptr_t i = 0; i < THREADS; i++) threads[i] = start_thread(work, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
    for (int i = 0; i < SHARED; i++) discard(atomic_exchange(&shared[i], NULL));
    return 0;
}
