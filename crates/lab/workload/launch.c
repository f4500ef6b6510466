// allod-launch: starts one program and reports what it used.
//
//     allod-launch PRELOAD CPU SECONDS PROGRAM ARGS…
//
// Linux hands a process's peak resident set down through fork and exec, so that a program started by
// a large process seems at least as large. This launcher is small: what it reports is the program's
// own. PRELOAD is a library or `-`, CPU a processor number or `-`, SECONDS a limit or 0. The report
// goes to standard input, which the caller passes as the writing end of a pipe; the program reads
// from /dev/null.
//
// The report is one line: how it ended (`exit`, `signal`, `timeout`, `error`), the code, signal or
// errno, nanoseconds from start to end, microseconds of user and system time, peak resident KiB.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile pid_t child;
static volatile sig_atomic_t timed_out;

static void on_alarm(int signal) {
    (void)signal;
    timed_out = 1;
    kill(child, SIGKILL);
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static long microseconds(struct timeval t) { return t.tv_sec * 1000000 + t.tv_usec; }

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    int report = fcntl(0, F_DUPFD_CLOEXEC, 3);
    int null = open("/dev/null", O_RDONLY);
    if (report < 0 || null < 0 || dup2(null, 0) < 0) return 2;
    if (null > 0) close(null);
    if (strcmp(argv[2], "-")) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(atoi(argv[2]), &set);
        sched_setaffinity(0, sizeof set, &set); // pinned where it may be
    }
    if (strcmp(argv[1], "-") && setenv("LD_PRELOAD", argv[1], 1)) return 2;
    signal(SIGALRM, on_alarm);

    volatile int error = 0;
    uint64_t start = now_ns();
    child = vfork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execv(argv[4], argv + 4);
        error = errno;
        _exit(127);
    }
    if (child < 0) return 2;
    alarm((unsigned)atoi(argv[3]));
    int status = 0;
    struct rusage used;
    while (wait4(child, &status, 0, &used) < 0 && errno == EINTR) {}
    uint64_t ns = now_ns() - start;
    alarm(0);

    const char *end = "exit";
    int code = WEXITSTATUS(status);
    if (error) end = "error", code = error;
    else if (timed_out) end = "timeout", code = 0;
    else if (WIFSIGNALED(status)) end = "signal", code = WTERMSIG(status);
    char line[200];
    int n = snprintf(line, sizeof line, "%s %d %llu %ld %ld\n", end, code, (unsigned long long)ns,
                     microseconds(used.ru_utime) + microseconds(used.ru_stime), used.ru_maxrss);
    return write(report, line, (size_t)n) == n ? 0 : 2;
}
