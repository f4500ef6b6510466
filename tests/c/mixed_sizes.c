/* Many blocks of mixed sizes at once, allocated, resized and freed in random order by one thread, so
 * that front caches fill, flush, grow and shrink; every byte is checked. modes: preload static */
#define _GNU_SOURCE
#include "check.h"

enum { SLOTS = 20000, ROUNDS = 400000 };

static unsigned char *blocks[SLOTS];
static size_t sizes[SLOTS];
static uint64_t state = 1;

static size_t next_random(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33);
}

static int fill_byte(size_t slot) {
    return (int)(slot * 31 & 0xFF);
}

static void discard(size_t slot) {
    CHECK(is_filled(blocks[slot], fill_byte(slot), sizes[slot]));
    free(blocks[slot]);
    blocks[slot] = NULL;
    sizes[slot] = 0;
}

static void keep(size_t slot, unsigned char *block, size_t size) {
    CHECK(block != NULL);
    memset(block, fill_byte(slot), size);
    blocks[slot] = block;
    sizes[slot] = size;
}

static void resize(size_t slot, size_t size) {
    size_t kept = size < sizes[slot] ? size : sizes[slot];
    unsigned char *block = realloc(blocks[slot], size);
    CHECK(block != NULL && is_filled(block, fill_byte(slot), kept));
    keep(slot, block, size);
}

static void run(size_t limit) {
    for (int round = 0; round < ROUNDS; round++) {
        size_t slot = next_random() % SLOTS, size = next_random() % limit + 1;
        switch (next_random() % 4) {
            case 0: discard(slot); break;
            case 1: resize(slot, size); break;
            case 2:
                discard(slot);
                keep(slot, malloc(size), size);
                break;
            default:
                discard(slot);
                keep(slot, calloc(1, size), size);
        }
    }
    for (size_t slot = 0; slot < SLOTS; slot++) discard(slot);
}

int main(void) {
    check_allod_is_malloc();
    run(40);
    run(300);
    run(5000);
    run(40000);
    return 0;
}
