/* When the heap asks for huge pages: in programs that are large and use what they take, and there only;
 * and what of it goes back when most of it is freed. */
#define _GNU_SOURCE
#include "corner.h"
#include <malloc.h>
#include <sys/prctl.h>

enum { MIB = 1 << 20, BLOCK = 30000, SMALLER = 12000, MOST = 200 * MIB / SMALLER + 1 };

static char *blocks[MOST];

/* Kilobytes of huge pages in this process. */
static long huge_kib(void) {
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kib = -1;
    if (!f) skip("needs /proc/self/smaps_rollup");
    while (kib < 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "AnonHugePages: %ld kB", &kib) != 1) kib = -1;
    fclose(f);
    return kib;
}

static void needs_huge_pages(void) {
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    char line[80] = "";
    if (!f || !fgets(line, sizeof line, f) || strstr(line, "[never]")) skip("this system has no huge pages");
    fclose(f);
}

/* Takes `mib` MiB in blocks of `size`, and writes the first `bytes` of each. Returns their number. */
static size_t take(size_t mib, size_t size, size_t bytes) {
    size_t count = mib * MIB / size;
    for (size_t i = 0; i < count; i++) {
        CHECK((blocks[i] = malloc(size)) != NULL);
        memset(blocks[i], (int)i | 1, bytes);
    }
    return count;
}

/* Frees all but every `keep`th block, and checks those that stay. */
static void give(size_t count, size_t keep) {
    for (size_t i = 0; i < count; i++) {
        if (i % keep != 0) {
            free(blocks[i]);
            continue;
        }
        for (size_t at = 0; at < BLOCK; at += 1000) CHECK(blocks[i][at] == (char)((int)i | 1));
    }
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    watchdog(25);
    if (strcmp(mode, "dense") == 0) {
        needs_huge_pages();
        take(200, BLOCK, BLOCK);
        printf("%ld KiB in huge pages\n", huge_kib());
        /* Not more: a machine that is short of memory stalls, and then the heap stops asking. */
        CHECK(huge_kib() >= 2 * 1024);
    } else if (strcmp(mode, "sparse") == 0) {
        take(200, BLOCK, 8);
        printf("%ld KiB resident, %ld KiB in huge pages\n", status_kib("VmRSS:"), huge_kib());
        CHECK(huge_kib() <= 0);
        CHECK(status_kib("VmRSS:") < 60 * 1024);
    } else if (strcmp(mode, "small") == 0) {
        take(6, BLOCK, BLOCK);
        CHECK(huge_kib() <= 0);
    } else if (strcmp(mode, "refused") == 0) {
        if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) skip("needs PR_SET_THP_DISABLE");
        give(take(200, BLOCK, BLOCK), 7);
        CHECK(huge_kib() <= 0);
    } else if (strcmp(mode, "survivors") == 0) {
        /* Prints what stays resident, for the driver to compare. */
        size_t keep = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;
        give(take(200, BLOCK, BLOCK), keep);
        sleep_ms(1200);
        printf("%ld\n", status_kib("VmRSS:"));
    } else if (strcmp(mode, "trim") == 0) {
        /* Too little is free in each huge page to break it, until the program asks. */
        size_t count = take(200, SMALLER, SMALLER);
        if (huge_kib() < 100 * 1024) skip("the system gave too few huge pages");
        for (size_t i = 0; i < count; i += 21) free(blocks[i]);
        sleep_ms(1200);
        long before = status_kib("VmRSS:");
        malloc_trim(0);
        printf("%ld KiB before, %ld KiB after\n", before, status_kib("VmRSS:"));
        CHECK(status_kib("VmRSS:") < before - 1024);
    } else {
        fprintf(stderr, "usage: huge_pages dense|sparse|small|refused|trim|survivors [N]\n");
        return 2;
    }
    return 0;
}
