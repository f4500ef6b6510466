/* Blocks freed twice, by one thread or two, and pointers into blocks.
 *
 * Promised: a large block that two threads free at once is freed once, and the other call is named
 * as misuse; so is a block that another thread frees twice, or that its own thread frees besides.
 * With ALLOD_ABORT=0 the program goes on and no two later blocks overlap. The line on standard
 * error comes without a lock held: a handler of SIGABRT may allocate. realloc takes no pointer into
 * a block.
 *
 * double_free race ROUNDS | remote-twice | remote-twice-in-a-row | remote-local | local-remote |
 *             realloc-small | realloc-shrink | realloc-large | realloc-large-16 |
 *             small | slab | large
 * double_free handler KIND: the same with a handler of SIGABRT that allocates, and ends with 42 */
#define _GNU_SOURCE
#include "corner.h"
#include <stdatomic.h>

enum { LARGE = 4 << 20, COUNT = 2000, DOUBLES = 200, LATER = 8000, SIZE = 200 };

static void *mine[COUNT], *later[LATER];

/* Memory that no two blocks may share: sorted by address, each ends before the next one starts. */
struct extent {
    uintptr_t at;
    size_t size;
};
static struct extent extents[COUNT + LATER];
static size_t extent_count;

static void live(const void *block, size_t size) {
    extents[extent_count++] = (struct extent){(uintptr_t)block, size};
}

static int by_address(const void *a, const void *b) {
    uintptr_t x = ((const struct extent *)a)->at, y = ((const struct extent *)b)->at;
    return (x > y) - (x < y);
}

static void none_overlap(void) {
    /* The C library may sort in malloc'd memory; that is one more block. */
    qsort(extents, extent_count, sizeof extents[0], by_address);
    for (size_t i = 1; i < extent_count; i++)
        CHECK(extents[i - 1].at + extents[i - 1].size <= extents[i].at);
    extent_count = 0;
}

static atomic_int ready;
static void *_Atomic shared;
static atomic_int freed;
static atomic_int over; /* rounds */

static void free_shared_now(int round) {
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) < 2 * round) {}
    free(opaque(atomic_load(&shared)));
    atomic_fetch_add(&freed, 1);
}

static void *racer(void *rounds) {
    for (int round = 1; round <= (int)(intptr_t)rounds; round++) {
        while (atomic_load(&freed) < 2 * (round - 1) || atomic_load(&shared) == NULL) {}
        free_shared_now(round);
        while (atomic_load(&over) < round) {}
    }
    return NULL;
}

static void race(int rounds) {
    pthread_t other = start_thread(racer, (void *)(intptr_t)rounds);
    for (int round = 1; round <= rounds; round++) {
        void *neighbour = malloc(LARGE);
        void *block = malloc(LARGE);
        CHECK(block != NULL && neighbour != NULL);
        mark(block, LARGE, 1);
        mark(neighbour, LARGE, 2);
        atomic_store(&shared, block);
        free_shared_now(round);
        while (atomic_load(&freed) < 2 * round) {}
        atomic_store(&shared, NULL);
        atomic_store(&over, round);
        void *again[4];
        live(neighbour, LARGE);
        for (int i = 0; i < 4; i++) {
            again[i] = malloc(LARGE / (i % 2 + 1));
            CHECK(again[i] != NULL);
            mark(again[i], LARGE / (i % 2 + 1), 3 + i);
            live(again[i], LARGE / (i % 2 + 1));
        }
        none_overlap();
        CHECK(is_marked(neighbour, LARGE, 2));
        for (int i = 0; i < 4; i++) CHECK(is_marked(again[i], LARGE / (i % 2 + 1), 3 + i));
        for (int i = 0; i < 4; i++) free(again[i]);
        free(neighbour);
    }
    join_thread(other);
}

/* Frees `mine[0..DOUBLES]` as often as told, all of them before any comes again. */
static void *free_in_turn(void *times) {
    for (int time = 0; time < (int)(intptr_t)times; time++)
        for (int i = 0; i < DOUBLES; i++) free(opaque(mine[i]));
    return NULL;
}

static void *free_in_a_row(void *unused) {
    for (int i = 0; i < DOUBLES; i++) {
        free(opaque(mine[i]));
        free(opaque(mine[i]));
    }
    return unused;
}

static void make_mine(void) {
    for (int i = 0; i < COUNT; i++) {
        mine[i] = malloc(SIZE);
        CHECK(mine[i] != NULL);
        memset(mine[i], i, SIZE);
    }
}

/* What is allocated from now on overlaps nothing, and nothing that has lived on. */
static void allocate_later(void) {
    for (int i = 0; i < LATER; i++) {
        later[i] = malloc(SIZE);
        CHECK(later[i] != NULL);
        memset(later[i], i * 5, SIZE);
        live(later[i], SIZE);
    }
    for (int i = DOUBLES; i < COUNT; i++) live(mine[i], SIZE);
    for (int i = 0; i < LATER; i++) CHECK(is_filled(later[i], i * 5, SIZE));
    for (int i = DOUBLES; i < COUNT; i++) CHECK(is_filled(mine[i], i, SIZE));
    none_overlap();
    for (int i = 0; i < LATER; i++) free(later[i]);
    for (int i = DOUBLES; i < COUNT; i++) free(mine[i]);
}

static void realloc_of(void *block, size_t offset, size_t size) {
    CHECK(block != NULL);
    memset(block, 7, 64);
    void *moved = realloc(opaque((char *)block + offset), size);
    CHECK(moved == NULL); /* when it is ignored */
    CHECK(is_filled(block, 7, 64));
    free(block);
}

static void misuse(const char *kind) {
    if (strcmp(kind, "remote-twice") == 0) {
        make_mine();
        join_thread(start_thread(free_in_turn, (void *)2));
        allocate_later();
    } else if (strcmp(kind, "remote-twice-in-a-row") == 0) {
        make_mine();
        join_thread(start_thread(free_in_a_row, NULL));
        allocate_later();
    } else if (strcmp(kind, "remote-local") == 0) {
        make_mine();
        join_thread(start_thread(free_in_turn, (void *)1));
        free_in_turn((void *)1);
        allocate_later();
    } else if (strcmp(kind, "local-remote") == 0) {
        make_mine();
        free_in_turn((void *)1);
        join_thread(start_thread(free_in_turn, (void *)1));
        allocate_later();
    } else if (strcmp(kind, "realloc-small") == 0) realloc_of(malloc(100), 16, 3000);
    else if (strcmp(kind, "realloc-shrink") == 0) realloc_of(malloc(100), 16, 20);
    else if (strcmp(kind, "realloc-large") == 0) realloc_of(malloc(LARGE), 4096, 2 * LARGE);
    else if (strcmp(kind, "realloc-large-16") == 0) realloc_of(malloc(LARGE), 16, 100);
    else if (strcmp(kind, "small") == 0) {
        void *block = opaque(malloc(100));
        free(block);
        free(opaque(block));
    } else if (strcmp(kind, "slab") == 0) {
        make_mine();
        for (int i = 0; i < COUNT; i++) free(mine[i]);
        for (int i = 0; i < COUNT; i++) free(opaque(mine[i]));
    } else if (strcmp(kind, "large") == 0) {
        void *block = opaque(malloc(LARGE));
        free(block);
        free(opaque(block));
    } else exit(2);
}

/* Allocates, in other slabs than have been used, and large blocks. */
static void on_abort(int number) {
    (void)number;
    static void *blocks[5000];
    for (int i = 0; i < 5000; i++) blocks[i] = malloc(SIZE);
    for (int i = 0; i < 5000; i++) free(blocks[i]);
    for (size_t size = 1; size < 4 << 20; size = size * 2 + 1) free(opaque(malloc(size)));
    printf("the handler allocated\n");
    fflush(stdout);
    _exit(42);
}

int main(int count, char **arguments) {
    CHECK(count >= 2);
    watchdog(10);
    if (strcmp(arguments[1], "race") == 0) {
        race(atoi(arguments[2]));
    } else if (strcmp(arguments[1], "handler") == 0) {
        signal(SIGABRT, on_abort);
        misuse(arguments[2]);
    } else {
        misuse(arguments[1]);
    }
    puts("went on");
    return 0;
}
