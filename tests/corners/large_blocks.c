/* Large blocks that grow, shrink and move, beside others and at limits.
 *
 * Promised:
 *   seams      a block that was moved, grown and shrunk many times keeps what was written to it.
 *   mappings   blocks that grew and were freed leave no mappings behind in the kernel's list, which is
 *              limited.
 *   shrinking  what a block gives up when realloc shrinks it goes back to the system, however small
 *              the steps are.
 *   growing    after 600 MB were freed, blocks that realloc makes large, and that are not written
 *              to, do not keep the memory that lay there.
 *   smaller    (under ulimit -v) realloc makes a block smaller although memory has run out.
 *   hole       (under ulimit -v) with memory run out, a free run that is large enough is found behind
 *              many that are a little too small.
 *   data       (under ulimit -d) blocks grow within the limit, and what exceeds it fails with ENOMEM.
 *   others     pages that others mapped right behind the heap's stay as they are, and malloc finds
 *              room elsewhere. */
#define _GNU_SOURCE
#include "corner.h"
#include <stddef.h>
#include <sys/mman.h>

static const size_t MIB = 1 << 20;

/* Numbers the pages of a part of a block. */
static void number(char *block, size_t from, size_t to) {
    for (size_t at = from; at < to; at += 4096) memcpy(block + at, &at, sizeof at);
}

static void check_numbers(char *block, size_t to) {
    size_t wrong = 0, found;
    for (size_t at = 0; at < to; at += 4096) {
        memcpy(&found, block + at, sizeof found);
        if (found != at && wrong++ == 0) printf("wrong from %zu MiB on\n", at / MIB);
    }
    if (wrong > 0) printf("%zu wrong pages\n", wrong);
    fflush(stdout);
    CHECK(wrong == 0);
}

/* Takes memory until some of it lies right behind a block, so that the block cannot grow in place. */
static void hem_in(char *block, size_t size) {
    for (int i = 0; i < 200; i++) {
        char *other = malloc(5 * MIB);
        CHECK(other != NULL);
        ptrdiff_t behind = (ptrdiff_t)((uintptr_t)other - (uintptr_t)block);
        if (behind >= (ptrdiff_t)size && behind < (ptrdiff_t)(size + 6 * MIB)) return;
    }
}

static char *resized(char *block, size_t mib) {
    char *now = realloc(block, mib * MIB);
    CHECK(now != NULL);
    return now;
}

static void seams(void) {
    /* Sizes in MiB; whether the block is hemmed in before, so that it must move to grow. */
    static const struct {
        size_t mib;
        int hemmed;
    } steps[] = {{12, 1}, {40, 0}, {16, 0}, {17, 1}, {4, 0}, {20, 1}, {60, 0}, {20, 0}, {61, 1}};
    size_t mib = 8;
    char *block = malloc(mib * MIB);
    CHECK(block != NULL);
    number(block, 0, mib * MIB);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        size_t next = steps[i].mib, kept = next < mib ? next : mib;
        if (steps[i].hemmed) hem_in(block, mib * MIB);
        block = resized(block, next);
        printf("from %zu to %zu MiB\n", mib, next);
        check_numbers(block, kept * MIB);
        number(block, kept * MIB, next * MIB);
        mib = next;
    }
    free(block);
}

static long mappings(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    long lines = 0;
    CHECK(maps != NULL);
    for (int c; (c = fgetc(maps)) != EOF;) lines += c == '\n';
    fclose(maps);
    return lines;
}

static void leave_no_mappings(void) {
    enum { BLOCKS = 200, ROUNDS = 12 };
    char *blocks[BLOCKS];
    long before = mappings();
    for (int round = 0; round < ROUNDS; round++) {
        /* Side by side, so that each must move to grow. */
        for (int i = 0; i < BLOCKS; i++) {
            blocks[i] = malloc((size_t)(2 + i % 3) * MIB);
            CHECK(blocks[i] != NULL);
            mark(blocks[i], 100, i);
        }
        for (int i = 0; i < BLOCKS; i++) {
            blocks[i] = resized(blocks[i], 5 + (size_t)(i + round) % 7);
            CHECK(is_marked(blocks[i], 100, i));
        }
        for (int i = 0; i < BLOCKS; i++) {
            if (i % 4 == 0) blocks[i] = resized(blocks[i], 2);
            free(blocks[i]);
        }
    }
    long after = mappings();
    printf("%ld mappings before, %ld after\n", before, after);
    CHECK(after < before + 20);
}

static void shrinking(void) {
    size_t size = 256 * MIB;
    char *block = malloc(size);
    CHECK(block != NULL);
    touch(block, size, 1);
    CHECK(resident_kib() > 250 << 10);
    while (size > MIB) {
        size = size / 10 * 6;
        block = realloc(block, size);
        CHECK(block != NULL);
    }
    CHECK(resident_sinks_below(32 << 10, 4));
    free(block);
}

static void growing(void) {
    char *block = malloc(600 * MIB), *grown[2];
    CHECK(block != NULL);
    touch(block, 600 * MIB, 1);
    for (int i = 0; i < 2; i++) {
        grown[i] = malloc(100000);
        CHECK(grown[i] != NULL);
        touch(grown[i], 100000, 1);
    }
    CHECK(resident_kib() > 590 << 10);
    free(block);
    for (int i = 0; i < 2; i++) {
        grown[i] = realloc(grown[i], 4 * MIB);
        CHECK(grown[i] != NULL);
    }
    CHECK(resident_sinks_below(32 << 10, 4));
    for (int i = 0; i < 2; i++) free(grown[i]);
}

/* Takes all blocks of a size that there are. Only under a limit. */
static void take_all(size_t size) {
    for (int i = 0; opaque(malloc(size)) != NULL; i++) CHECK(i < 1000000);
}

static void smaller(void) {
    char *block = malloc(4 * MIB);
    CHECK(block != NULL);
    touch(block, 4 * MIB, 1);
    mark(block, 60000, 2);
    take_all(64 * MIB);
    take_all(MIB);
    take_all(100000);
    take_all(4000);
    block = realloc(block, 60000);
    CHECK(block != NULL);
    CHECK(is_marked(block, 60000, 2));
}

/* Sizes are in units of 64 KiB, less what a header may take. */
static void hole(void) {
    enum { UNIT = 65536, LESS = 8000, SMALL_HOLES = 12 };
    void *small[SMALL_HOLES];
    void *large = malloc(103 * UNIT - LESS);
    CHECK(large != NULL && opaque(malloc(65 * UNIT - LESS)) != NULL);
    for (int i = 0; i < SMALL_HOLES; i++) {
        small[i] = malloc(97 * UNIT - LESS);
        CHECK(small[i] != NULL && opaque(malloc(65 * UNIT - LESS)) != NULL);
    }
    take_all(1024 * UNIT);
    take_all(65 * UNIT - LESS);
    take_all(20 * UNIT - LESS);
    take_all(17 * UNIT - LESS);
    free(large);
    for (int i = 0; i < SMALL_HOLES; i++) free(small[i]);
    CHECK(opaque(malloc(102 * UNIT - LESS)) != NULL);
}

static void data(void) {
    enum { COUNT = 8 };
    char *blocks[COUNT];
    for (int i = 0; i < COUNT; i++) {
        blocks[i] = malloc(2000000);
        CHECK(blocks[i] != NULL);
        mark(blocks[i], 2000000, i);
        blocks[i] = realloc(blocks[i], 4 * MIB);
        CHECK(blocks[i] != NULL);
        CHECK(is_marked(blocks[i], 2000000, i));
        touch(blocks[i], 4 * MIB, i);
    }
    errno = 0;
    CHECK(opaque(malloc(100 * MIB)) == NULL);
    CHECK(errno == ENOMEM);
    for (int i = 0; i < COUNT; i++) free(blocks[i]);
}

/* The end of the mapping that holds an address, with all those that follow without a gap. */
static uintptr_t end_of_mappings(void *inside) {
    char line[512];
    unsigned long from, to;
    uintptr_t end = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%lx-%lx", &from, &to) == 2)
            if (from == end || (from <= (uintptr_t)inside && (uintptr_t)inside < to)) end = to;
    fclose(maps);
    CHECK(end != 0);
    return end;
}

static void others(void) {
    enum { PAGES = 8, PAGE = 4096, COUNT = 2500 };
    static char *pages[PAGES], *blocks[COUNT];
    char *first = malloc(4 * MIB);
    CHECK(first != NULL);
    uintptr_t at = end_of_mappings(first);
    int mapped = 0;
    for (int i = 0; i < PAGES; i++, at += 2 * MIB) {
        pages[i] = mmap((void *)at, PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (pages[i] != MAP_FAILED) memset(pages[i], 0xaa, PAGE);
        mapped += pages[i] != MAP_FAILED;
    }
    if (mapped == 0) skip("no page can be mapped behind the heap");
    for (int i = 0; i < COUNT; i++) {
        blocks[i] = malloc(1024 * MIB);
        CHECK(blocks[i] != NULL);
        mark(blocks[i], 32, i);
    }
    for (int i = 0; i < PAGES; i++)
        CHECK(pages[i] == MAP_FAILED || is_filled(pages[i], 0xaa, PAGE));
    for (int i = 0; i < COUNT; i++) CHECK(is_marked(blocks[i], 32, i));
    for (int i = 0; i < COUNT; i++) free(blocks[i]);
    free(first);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    const char *what = arguments[1];
    watchdog(10);
    if (strcmp(what, "seams") == 0) seams();
    else if (strcmp(what, "mappings") == 0) leave_no_mappings();
    else if (strcmp(what, "shrinking") == 0) shrinking();
    else if (strcmp(what, "growing") == 0) growing();
    else if (strcmp(what, "smaller") == 0) smaller();
    else if (strcmp(what, "hole") == 0) hole();
    else if (strcmp(what, "data") == 0) data();
    else if (strcmp(what, "others") == 0) others();
    else return 2;
    return 0;
}
