/* What only Allod tells of itself. */
#ifndef STATS_H
#define STATS_H

#include "corner.h"
#include <dlfcn.h>
#include <sys/mman.h>

/* From `name` on, the first line of allod_stats_print that has it; NULL on another allocator. */
static inline const char *stats_line(const char *name) {
    static char text[1 << 16];
    void (*print_stats)(int);
    /* POSIX says that dlsym's answer may be a function. */
    *(void **)&print_stats = dlsym(RTLD_DEFAULT, "allod_stats_print");
    if (print_stats == NULL) return NULL;
    int file = memfd_create("stats", 0);
    CHECK(file >= 0);
    print_stats(file);
    ssize_t n = pread(file, text, sizeof text - 1, 0);
    CHECK(n > 0);
    text[n] = 0;
    close(file);
    const char *line = strstr(text, name);
    CHECK(line != NULL);
    return line;
}

#endif
