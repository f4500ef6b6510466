/* A program with one thread that frees much.
 *
 * Promised: it stays a program with one thread, as far as the system and the C library can tell:
 * unshare and setns for user namespaces succeed, __libc_single_threaded stays true, there is one
 * task, a filter that forbids clone is not broken. And memory that it freed goes back all the same.
 *
 * one_thread unshare | setns | filter | flag | tasks | growing | idle | idle-threads */
#define _GNU_SOURCE
#include "corner.h"
#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>

enum { SMALL = 200000, THREADS = 4 };

/* Ten times 2 MiB: more than a heap may want to forget about. */
static void free_some(void) {
    for (int i = 0; i < 10; i++) free(opaque(malloc(2 << 20)));
}

/* Hundreds of megabytes, in small blocks and large ones; their pages are there. */
static void free_much(void) {
    static void *blocks[SMALL];
    for (int i = 0; i < SMALL; i++) {
        blocks[i] = malloc(600);
        CHECK(blocks[i] != NULL);
        mark(blocks[i], 600, i);
    }
    for (int i = 0; i < SMALL; i++) free(blocks[i]);
    for (int i = 0; i < 60; i++) {
        blocks[i] = malloc(3 << 20);
        CHECK(blocks[i] != NULL);
        touch(blocks[i], 3 << 20, 1);
    }
    for (int i = 0; i < 60; i++) free(blocks[i]);
}

static int tasks(void) {
    int count = 0;
    DIR *directory = opendir("/proc/self/task");
    CHECK(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static void unshare_after_frees(void) {
    free_some();
    if (unshare(CLONE_NEWUSER) != 0) {
        if (errno == EPERM || errno == ENOSPC) skip("user namespaces are not allowed here");
        CHECK(!"unshare(CLONE_NEWUSER)");
    }
    CHECK(tasks() == 1);
    free_much();
    sleep_ms(700);
    CHECK(tasks() == 1);
}

/* Enters the user namespace of a child. */
static void setns_after_frees(void) {
    int ready[2], over[2];
    char byte = 0;
    CHECK(pipe(ready) == 0 && pipe(over) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(over[1]);
        byte = unshare(CLONE_NEWUSER) == 0;
        CHECK(write(ready[1], &byte, 1) == 1);
        CHECK(read(over[0], &byte, 1) == 0);
        _exit(0);
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    if (byte == 0) skip("user namespaces are not allowed here");
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)child);
    int space = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(space >= 0);
    free_much();
    if (setns(space, CLONE_NEWUSER) != 0) {
        if (errno == EPERM) skip("setns is not allowed here");
        CHECK(!"setns(CLONE_NEWUSER)");
    }
    close(over[1]);
    CHECK(ended_well(child));
}

static void forbid_clone(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) skip("no filters here");
}

static void free_under_a_filter(void) {
    forbid_clone();
    free_some();
    free_much();
    sleep_ms(700);
    free_much();
}

static void flag_stays(void) {
    CHECK(__libc_single_threaded);
    free_some();
    CHECK(__libc_single_threaded);
    free_much();
    sleep_ms(700);
    CHECK(__libc_single_threaded);
}

/* A thread may come to give memory back while a program holds much; a small one stays alone. */
static void one_task(void) {
    CHECK(tasks() == 1);
    free_some();
    CHECK(tasks() == 1);
    sleep_ms(700);
    CHECK(tasks() == 1);
}

/* Nor does a block that grew, for the addresses that it may grow into. */
static void one_task_beside_growing_blocks(void) {
    enum { GROWING = 8 };
    void *blocks[GROWING] = {NULL};
    for (size_t size = 4096; size <= 512 << 10; size *= 2)
        for (int i = 0; i < GROWING; i++) {
            blocks[i] = realloc(blocks[i], size);
            CHECK(blocks[i] != NULL);
            touch(blocks[i], size, 1);
        }
    for (int i = 0; i < 3000; i++) CHECK(opaque(malloc(500)) != NULL);
    CHECK(tasks() == 1);
    for (int i = 0; i < GROWING; i++) free(blocks[i]);
}

/* 213 MB in small blocks, 99 of 100 freed; what stays lies together, 640 blocks at a time. */
enum { BLOCKS = 852000, CLUSTER = 640 };
static void **blocks; /* mapped, not malloc'd */

static size_t size_of_block(size_t i) {
    return 50 + i * 7919 % 401;
}

static void fill_part(size_t part, size_t parts) {
    for (size_t i = BLOCKS / parts * part; i < BLOCKS / parts * (part + 1); i++) {
        blocks[i] = malloc(size_of_block(i));
        CHECK(blocks[i] != NULL);
        memset(blocks[i], (int)i, size_of_block(i));
    }
}

static void free_most(size_t part, size_t parts) {
    for (size_t i = BLOCKS / parts * part; i < BLOCKS / parts * (part + 1); i++)
        if (i / CLUSTER % 100 != 50) free(blocks[i]);
}

static pthread_barrier_t full, freed, measured;

/* A thread fills its part, frees that or another thread's, and lives on idle. */
static void *fill_and_idle(void *number) {
    uintptr_t n = (uintptr_t)number;
    fill_part(n, THREADS);
    pthread_barrier_wait(&full);
    uintptr_t which = n % 2 ? n : (n + 2) % THREADS;
    free_most(which, THREADS);
    pthread_barrier_wait(&freed);
    pthread_barrier_wait(&measured);
    return NULL;
}

static void shrinks(long at_full) {
    sleep_ms(1800);
    long idle = resident_kib();
    printf("resident KiB: %ld full, %ld idle\n", at_full, idle);
    CHECK(at_full > 200000);
    CHECK(idle - (long)(BLOCKS * sizeof *blocks >> 10) < 60000);
}

static void make_table(void) {
    blocks = mmap(NULL, BLOCKS * sizeof *blocks, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(blocks != MAP_FAILED);
}

static void idle(void) {
    make_table();
    fill_part(0, 1);
    long at_full = resident_kib();
    free_most(0, 1);
    shrinks(at_full);
}

static void idle_with_threads(void) {
    pthread_t threads[THREADS];
    make_table();
    pthread_barrier_init(&full, NULL, THREADS + 1);
    pthread_barrier_init(&freed, NULL, THREADS + 1);
    pthread_barrier_init(&measured, NULL, THREADS + 1);
    for (uintptr_t i = 0; i < THREADS; i++) threads[i] = start_thread(fill_and_idle, (void *)i);
    pthread_barrier_wait(&full);
    long at_full = resident_kib();
    pthread_barrier_wait(&freed);
    shrinks(at_full);
    pthread_barrier_wait(&measured);
    for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    const char *what = arguments[1];
    watchdog(15);
    if (strcmp(what, "unshare") == 0) unshare_after_frees();
    else if (strcmp(what, "setns") == 0) setns_after_frees();
    else if (strcmp(what, "filter") == 0) free_under_a_filter();
    else if (strcmp(what, "flag") == 0) flag_stays();
    else if (strcmp(what, "tasks") == 0) one_task();
    else if (strcmp(what, "growing") == 0) one_task_beside_growing_blocks();
    else if (strcmp(what, "idle") == 0) idle();
    else if (strcmp(what, "idle-threads") == 0) idle_with_threads();
    else return 2;
    return 0;
}
