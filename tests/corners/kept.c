/* Memory that must not be kept for good.
 *
 * Promised: the memory of heaps that were destroyed goes back to the system; and two locked pages in
 * a block that was freed do not stop other memory from going back; nor do many of them when malloc_trim
 * asks for it. A program that goes from one size of blocks to the next does not hold many times what lives.
 *
 * kept heaps (only with Allod) | locked | trimmed (with ALLOD_BACKGROUND=0) | sizes */
#define _GNU_SOURCE
#include "corner.h"
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>

static const size_t MIB = 1 << 20;

/* A function that only Allod has. POSIX says that dlsym's answer may be one. */
static void find(const char *name, void *function) {
    void *found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL) skip("only with Allod");
    memcpy(function, &found, sizeof found);
}

static void heaps(void) {
    enum { HEAPS = 40, BLOCKS = 1000, SIZE = 8000 };
    static void *made[HEAPS], *blocks[BLOCKS];
    void *(*new_heap)(void);
    void *(*allocate)(void *, size_t);
    void (*destroy)(void *);
    find("allod_heap_new", &new_heap);
    find("allod_heap_malloc", &allocate);
    find("allod_heap_destroy", &destroy);
    for (int i = 0; i < HEAPS; i++) {
        made[i] = new_heap();
        CHECK(made[i] != NULL);
        for (int j = 0; j < BLOCKS; j++) {
            blocks[j] = allocate(made[i], SIZE);
            CHECK(blocks[j] != NULL);
            touch(blocks[j], SIZE, 1);
        }
        for (int j = 0; j < BLOCKS; j += 1 + i % 2) free(blocks[j]);
    }
    for (int i = 0; i < HEAPS; i++) destroy(made[i]);
    CHECK(resident_sinks_below(40 << 10, 4));
}

static void locked(void) {
    char *block = malloc(6 * MIB);
    CHECK(block != NULL);
    if (mlock(block + 3 * MIB, 8192) != 0) skip("memory may not be locked here");
    touch(block, 6 * MIB, 1);
    free(block);
    sleep_ms(600); /* until it is tried to give it back */
    block = malloc(400 * MIB);
    CHECK(block != NULL);
    touch(block, 400 * MIB, 1);
    CHECK(resident_kib() > 390 << 10);
    free(block);
    CHECK(resident_sinks_below(32 << 10, 4));
}

static void trimmed(void) {
    enum { LOCKED = 40 };
    static char *blocks[LOCKED], *others[LOCKED];
    for (int i = 0; i < LOCKED; i++) {
        blocks[i] = malloc(3 * MIB);
        others[i] = malloc(3 * MIB);
        CHECK(blocks[i] != NULL && others[i] != NULL);
        if (mlock(blocks[i] + MIB, 4096) != 0) skip("memory may not be locked here");
    }
    for (int i = 0; i < LOCKED; i++) free(blocks[i]);
    malloc_trim(0); /* finds that all of that is locked */
    for (int i = 0; i < LOCKED; i++) {
        touch(others[i], 3 * MIB, 1);
        free(others[i]);
    }
    CHECK(resident_kib() > 120 << 10);
    CHECK(malloc_trim(0) == 1);
    CHECK(resident_sinks_below(32 << 10, 0));
}

/* Bursts of 16 MiB in ever larger blocks, all freed between: what one size leaves serves the next. */
static void sizes(void) {
    enum { BURST = 16, REPEATS = 4 };
    static void *blocks[BURST << 8];
    long most = 0;
    for (size_t size = 4096; size <= MIB; size += size / 4) {
        size_t n = BURST * MIB / size;
        for (int k = 0; k < REPEATS; k++) {
            for (size_t i = 0; i < n; i++) {
                CHECK((blocks[i] = malloc(size)) != NULL);
                touch(blocks[i], size, 1);
            }
            for (size_t i = 0; i < n; i++) free(blocks[i]);
        }
        if (resident_kib() > most) most = resident_kib();
    }
    printf("%d MiB at a time: %ld KiB resident at most\n", BURST, most);
    CHECK(most < 64 << 10);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    watchdog(10);
    if (strcmp(arguments[1], "heaps") == 0) heaps();
    else if (strcmp(arguments[1], "locked") == 0) locked();
    else if (strcmp(arguments[1], "trimmed") == 0) trimmed();
    else if (strcmp(arguments[1], "sizes") == 0) sizes();
    else return 2;
    return 0;
}
