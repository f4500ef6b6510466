/* 64 threads on whatever processors there are, for three seconds: all sizes up to 1 MiB, contents
 * verified when a block is freed, half of the frees by another thread.
 *
 * Promised: every block keeps what its owner wrote, is aligned, and no thread waits for ever. */
#define _GNU_SOURCE
#include "corner.h"
#include <stdatomic.h>
#include <stdbool.h>

enum { THREADS = 64, OWN = 24, EXCHANGE = 256 };

struct head {
    size_t size;
    uint64_t sign;
};

static struct head *_Atomic exchange[EXCHANGE];
static atomic_bool stop;
static atomic_ulong steps;

static uint64_t sign_of(const struct head *block, size_t size) {
    return ((uintptr_t)block ^ size) * 0x9E3779B97F4A7C15u;
}

static void verify_and_free(struct head *block) {
    if (block == NULL) return;
    size_t size = block->size;
    CHECK(block->sign == sign_of(block, size));
    size_t room = size - sizeof *block, n = room < 4096 ? room : 4096;
    char *end = (char *)block + size;
    CHECK(is_filled(block + 1, (int)(block->sign & 255), n));
    CHECK(is_filled(end - n, (int)(block->sign & 255), n));
    free(block);
}

static struct head *make(uint64_t *random) {
    size_t shift = next_random(random) % 17; /* every magnitude alike, up to 1 MiB */
    size_t size = sizeof(struct head) + next_random(random) % ((size_t)16 << shift);
    struct head *block;
    switch (next_random(random) % 8) {
        case 0: block = calloc(1, size); break;
        case 1: block = aligned_alloc(64, size); break;
        case 2:
            block = malloc(size / 2 + 1);
            CHECK(block != NULL);
            block = realloc(block, size);
            break;
        default: block = malloc(size);
    }
    CHECK(block != NULL && is_aligned(block, 16));
    block->size = size;
    block->sign = sign_of(block, size);
    size_t room = size - sizeof *block, n = room < 4096 ? room : 4096;
    memset(block + 1, (int)(block->sign & 255), n);
    memset((char *)block + size - n, (int)(block->sign & 255), n);
    return block;
}

static void *work(void *seed) {
    uint64_t random = (uintptr_t)seed;
    struct head *own[OWN] = {NULL};
    unsigned long done = 0;
    for (; !atomic_load(&stop); done++) {
        struct head *block = make(&random);
        size_t slot = next_random(&random);
        if (done % 2) {
            block = atomic_exchange(&exchange[slot % EXCHANGE], block);
        } else {
            struct head *before = own[slot % OWN];
            own[slot % OWN] = block;
            block = before;
        }
        verify_and_free(block);
    }
    for (int i = 0; i < OWN; i++) verify_and_free(own[i]);
    CHECK(done > 0);
    atomic_fetch_add(&steps, done);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    watchdog(25);
    for (uintptr_t i = 0; i < THREADS; i++) threads[i] = start_thread(work, (void *)(i + 1));
    sleep_ms(3000);
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
    for (int i = 0; i < EXCHANGE; i++) verify_and_free(exchange[i]);
    printf("%lu steps\n", atomic_load(&steps));
    return 0;
}
