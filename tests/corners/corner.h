/* What the tests of corners share: a watchdog, skips, clocks, counts of the system, marked blocks.
 * These programs run on any malloc, so that glibc shows what can be had. */
#ifndef CORNER_H
#define CORNER_H

#include "../c/threads.h"
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The driver's sign for a test that cannot be made here. */
enum { SKIPPED = 77 };

/* Ends the test as one that this machine does not allow. */
_Noreturn static inline void skip(const char *why) {
    printf("%s\n", why);
    fflush(stdout);
    _exit(SKIPPED);
}

/* Ends this process when it hangs, also in a child that was forked in a signal handler. */
static inline void watchdog(unsigned seconds) {
    sigset_t set;
    signal(SIGALRM, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    alarm(seconds);
}

static inline double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void sleep_ms(long ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {}
}

/* Waits for a child; true if it ended well. Says how it ended otherwise. */
static inline int ended_well(pid_t child) {
    int status;
    pid_t got;
    do got = waitpid(child, &status, 0);
    while (got < 0 && errno == EINTR);
    if (got == child && status == 0) return 1;
    char text[80];
    int n = snprintf(text, sizeof text, "a child ended with status %x%s\n", (unsigned)status,
                     WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? ": it hung" : "");
    if (write(2, text, (size_t)n) != n) return 0;
    return 0;
}

/* A line of /proc/self/status in KiB, e.g. "VmLck:"; -1 when there is none. */
static inline long status_kib(const char *field) {
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    CHECK(status != NULL);
    while (fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, field, strlen(field)) == 0) kib = atol(line + strlen(field));
    fclose(status);
    return kib;
}

/* Address space that may be written to, in KiB; mere reservations do not count. */
static inline long writable_kib(void) {
    char line[512], rights[8];
    unsigned long from, to, sum = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 && rights[1] == 'w')
            sum += to - from;
    fclose(maps);
    return (long)(sum >> 10);
}

/* Writes to the ends of a block and to each of its pages. */
static inline void touch(void *block, size_t size, int byte) {
    unsigned char *bytes = (unsigned char *)block;
    for (size_t i = 0; i < size; i += 4096) bytes[i] = (unsigned char)byte;
    if (size > 0) bytes[size - 1] = (unsigned char)byte;
}

/* Waits until less memory than that is resident, for some seconds at most; says how much is. */
static inline int resident_sinks_below(long kib, double wait) {
    double end = seconds() + wait;
    while (resident_kib() >= kib && seconds() < end) sleep_ms(20);
    printf("resident: %ld KiB\n", resident_kib());
    fflush(stdout);
    return resident_kib() < kib;
}

/* Marks the ends of a block, cheaply whatever its size. */
static inline void mark(void *block, size_t size, int byte) {
    size_t n = size < 32 ? size : 32;
    memset(block, byte, n);
    memset((char *)block + size - n, byte, n);
}

static inline int is_marked(const void *block, size_t size, int byte) {
    size_t n = size < 32 ? size : 32;
    return is_filled(block, byte, n) && is_filled((const char *)block + size - n, byte, n);
}

#endif
