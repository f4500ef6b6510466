/* Allocates and frees pairs of each size, and has callgrind write down the instructions of each. */
#include <stdio.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

enum { PAIRS = 1000 };

static const size_t sizes[] = {1, 16, 17, 64, 100, 200, 256, 500, 512, 800, 1000, 1024};

static void pairs(size_t size, int count) {
    for (int i = 0; i < count; i++) {
        void *block = malloc(size);
        __asm__ volatile("" : "+r"(block) : : "memory");
        free(block);
    }
}

int main(void) {
    char name[32];
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        pairs(sizes[i], 100);
        snprintf(name, sizeof name, "size-%zu", sizes[i]);
        CALLGRIND_ZERO_STATS;
        pairs(sizes[i], PAIRS);
        CALLGRIND_DUMP_STATS_AT(name);
    }
    return 0;
}
