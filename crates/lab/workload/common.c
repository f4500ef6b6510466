#include "work.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

void fail(const char *what) {
    char line[200];
    int n = snprintf(line, sizeof line, "allod-workload: %s\n", what);
    ssize_t ignored = write(2, line, (size_t)n);
    (void)ignored;
    _exit(1);
}

uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void *own_memory(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) fail("no memory for the workload's own tables");
    return p;
}

long resident_kib(void) {
    char text[128];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (n <= 0) fail("cannot read /proc/self/statm");
    close(fd);
    text[n] = 0;
    long pages = 0, resident = 0;
    if (sscanf(text, "%ld %ld", &pages, &resident) != 2) fail("cannot understand /proc/self/statm");
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

long peak_resident_kib(void) {
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used)) fail("cannot ask for the peak of memory");
    return used.ru_maxrss;
}
