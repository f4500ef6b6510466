// allod-launch: starts one program and reports what it used.
//
//     allod-launch PRELOAD CPU SECONDS PROGRAM ARGS…
//
// On Linux a process's peak resident set is passed on through fork and exec, so a program started by a
// large process seems at least as large. This launcher is small, so the reported peak is the program's
// own. PRELOAD is the program's LD_PRELOAD or `-`, CPU a processor number or `-`, SECONDS a limit or
// 0. The report goes to standard input, which the caller passes as the writing end of a pipe; the
// program reads from /dev/null.
//
// The program leads its own process group. When time is up, when the launcher is told to stop
// (SIGTERM, SIGINT, SIGHUP) or its own parent dies, the whole group is killed; at the end, so are
// processes that the program left running.
//
// The report consists of lines `name=value`. `end` is how it ended (`exit`, `signal`, `timeout`,
// `stopped`, `error`) and the code, signal or errno. The resident set at the end and the counters are
// omitted if the system does not permit them; `counters_errno` says why there are no counters.
#define _GNU_SOURCE
#include "calibrate.h"
#include "counters.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>

static volatile pid_t child;
static volatile sig_atomic_t stopped_by;

static void stop(int signal) {
    stopped_by = signal;
    if (child > 0) kill(-child, SIGKILL);
}

static void stop_on_signals(void) {
    struct sigaction action = {.sa_handler = stop};
    static const int signals[] = {SIGALRM, SIGTERM, SIGINT, SIGHUP};
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

static void pin(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set); // pinned where it may be
}

// Waits until the launcher is ready to watch, then becomes the program.
static void become(char **argv, const char *preload, int gate, int failure) {
    char go;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(gate, &go, 1) != 1) _exit(127);
    if (strcmp(preload, "-")) setenv("LD_PRELOAD", preload, 1);
    execv(argv[0], argv);
    ssize_t told = write(failure, &errno, sizeof errno);
    _exit(told == sizeof errno ? 127 : 126);
}

static long resident_kib(pid_t process) {
    char text[128];
    snprintf(text, sizeof text, "/proc/%d/statm", process);
    int file = open(text, O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    long pages, resident;
    if (n <= 0 || (text[n] = 0, sscanf(text, "%ld %ld", &pages, &resident)) != 2) return -1;
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

// Continues a stopped child. It stops once for us, just before it releases its memory; every other
// stop is for a signal that it must receive.
static void go_on(int status, long *final_kib) {
    int signal = WSTOPSIG(status), event = status >> 16;
    if (event == PTRACE_EVENT_EXIT) *final_kib = resident_kib(child);
    bool stays = event == PTRACE_EVENT_STOP && signal != SIGTRAP && signal != SIGCONT;
    ptrace(stays ? PTRACE_LISTEN : PTRACE_CONT, child, 0, event ? 0 : signal);
}

static long microseconds(struct timeval t) { return t.tv_sec * 1000000 + t.tv_usec; }

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    int report = fcntl(0, F_DUPFD_CLOEXEC, 3);
    int null = open("/dev/null", O_RDONLY);
    int gate[2], failure[2];
    if (report < 0 || null < 0 || dup2(null, 0) < 0) return 2;
    if (null > 0) close(null);
    if (pipe2(gate, O_CLOEXEC) < 0 || pipe2(failure, O_CLOEXEC) < 0) return 2;
    stop_on_signals();
    if (strcmp(argv[2], "-")) pin(atoi(argv[2]));
    uint64_t loop_before = calibrate();

    child = fork();
    if (child == 0) become(argv + 4, argv[1], gate[0], failure[1]);
    if (child < 0) return 2;
    setpgid(child, child); // both do, so that it holds for both from here on
    close(failure[1]);
    if (stopped_by) kill(-child, SIGKILL);
    ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL);
    int counters[COUNTERS];
    int no_counters = open_counters(counters, child);
    alarm((unsigned)atoi(argv[3]));
    uint64_t start = now_ns();
    if (write(gate[1], "", 1) != 1) return 2;
    int status = 0;
    long final_kib = -1;
    struct rusage used;
    for (;;) {
        if (wait4(child, &status, __WALL, &used) < 0) {
            if (errno != EINTR) return 2;
        } else if (WIFSTOPPED(status)) {
            go_on(status, &final_kib);
        } else {
            break;
        }
    }
    uint64_t wall = now_ns() - start;
    alarm(0);
    kill(-child, SIGKILL);
    uint64_t loop_after = calibrate();

    const char *end = "exit";
    int code = WEXITSTATUS(status), error;
    if (read(failure[0], &error, sizeof error) == sizeof error) end = "error", code = error;
    else if (stopped_by) end = stopped_by == SIGALRM ? "timeout" : "stopped", code = 0;
    else if (WIFSIGNALED(status)) end = "signal", code = WTERMSIG(status);
    dprintf(report, "end=%s %d\nwall_ns=%llu\nuser_us=%ld\nsystem_us=%ld\npeak_kib=%ld\n", end, code,
            (unsigned long long)wall, microseconds(used.ru_utime), microseconds(used.ru_stime),
            used.ru_maxrss);
    if (final_kib >= 0) dprintf(report, "final_kib=%ld\n", final_kib);
    dprintf(report, "minor_faults=%ld\nmajor_faults=%ld\nvoluntary_switches=%ld\n", used.ru_minflt,
            used.ru_majflt, used.ru_nvcsw);
    dprintf(report, "involuntary_switches=%ld\nloop_before_ns=%llu\nloop_after_ns=%llu\n", used.ru_nivcsw,
            (unsigned long long)loop_before, (unsigned long long)loop_after);
    if (no_counters) dprintf(report, "counters_errno=%d\n", no_counters);
    return report_counters(counters, report);
}
