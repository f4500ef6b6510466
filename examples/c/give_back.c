/* Giving memory back: after a job that took a lot of memory, hand it to the system at once instead of after
 * the delay. Prints resident memory before and after. */
#include <allod/heap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 100000, SIZE = 1000 };

/* Resident memory of this process, in KiB. */
static long resident(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(void) {
    static void *blocks[BLOCKS];
    long start = resident();
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(SIZE);
        if (!blocks[i]) return 1;
        memset(blocks[i], 1, SIZE);
    }
    long busy = resident();
    for (size_t i = 0; i < BLOCKS; i++) free(blocks[i]);
    size_t given = allod_purge(ALLOD_PURGE_PROCESS);
    long idle = resident();
    printf("resident: %ld KiB at first, %ld KiB at work, %ld KiB afterwards; %zu KiB given back\n", start,
           busy, idle, given / 1024);
    /* Nine tenths of what the job took are gone. */
    return idle - start <= (busy - start) / 10 ? 0 : 1;
}
