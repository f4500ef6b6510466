/* Profiles that are written under unusual circumstances, each into the file that is named second. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allod/heap.h"

static const char *profile;
static volatile int done;

__attribute__((noinline)) static void takes(void) {
    for (int i = 0; i < 10000; i++) {
        char *volatile block = malloc(128);
        if (block == NULL) _exit(3);
        if (i % 8) free(block);
    }
}

static int file_of(size_t bytes) {
    int file = memfd_create("file", 0);
    if (file < 0 || ftruncate(file, bytes) != 0) _exit(3);
    return file;
}

/* Maps a file that is empty by now: reading it would end the process. */
static void shrunk(void) {
    int file = file_of(8192);
    if (mmap(NULL, 8192, PROT_READ, MAP_SHARED, file, 0) == MAP_FAILED) _exit(3);
    if (mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0) == MAP_FAILED) _exit(3);
    if (ftruncate(file, 0) != 0) _exit(3);
}

static void *maps_and_unmaps(void *nothing) {
    int file = file_of(4096);
    while (!done) {
        void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
        if (page != MAP_FAILED) munmap(page, 4096);
    }
    return nothing;
}

static void child(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
}

static void forks_in_a_handler(int signal) {
    (void)signal;
    child();
}

static void *forks(void *nothing) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    while (!done) child();
    return nothing;
}

/* Signals interrupt the writing thread, and their handler forks, as another thread does all the time. */
static void interrupted(void) {
    struct sigaction action = {.sa_handler = forks_in_a_handler, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 7000}, {0, 7000}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 100; i++) {
        takes();
        allod_profile_dump(profile);
    }
    setitimer(ITIMER_REAL, &never, NULL);
}

static void ends(int signal) {
    (void)signal;
    _exit(0);
}

/* Ends in a handler with a stack that is just long enough for the handler, in front of a page without access. */
static void ends_on_a_small_stack(void) {
    enum { SMALL = 8192, HOLE = 65536 };
    char *hole = mmap(NULL, HOLE + SMALL, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (hole == MAP_FAILED || mprotect(hole + HOLE, SMALL, PROT_READ | PROT_WRITE) != 0) _exit(3);
    stack_t small = {.ss_sp = hole + HOLE, .ss_size = SMALL};
    struct sigaction action = {.sa_handler = ends, .sa_flags = SA_ONSTACK};
    sigaltstack(&small, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

/* A place of its own for each path: more of them than a pipe holds. */
__attribute__((noinline)) static int takes_by(unsigned path, int depth) {
    if (depth == 0) return malloc(64) != NULL;
    int left = path & 1 ? takes_by(path >> 1, depth - 1) : 0;
    __asm__ volatile("" : "+r"(left));
    int right = path & 1 ? 0 : takes_by(path >> 1, depth - 1);
    return left + right;
}

/* Reads the pipe, and allocates blocks all of which are samples. */
static void *reads_and_allocates(void *name) {
    int in = open(name, O_RDONLY), out = open(profile, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char *part;
    ssize_t length;
    do {
        part = malloc(4096);
        length = read(in, part, 4096);
        if (length > 0 && write(out, part, (size_t)length) != length) _exit(3);
        free(part);
    } while (length > 0);
    return NULL;
}

/* Dumps into a pipe that another thread reads. */
static int piped(void) {
    char name[4096];
    pthread_t reader;
    snprintf(name, sizeof name, "%s.pipe", profile);
    if (mkfifo(name, 0600) != 0 || allod_profile_start(1) != 0) _exit(3);
    for (unsigned path = 0; path < 1 << 11; path++)
        if (!takes_by(path, 11)) _exit(3);
    pthread_create(&reader, NULL, reads_and_allocates, name);
    int written = allod_profile_dump(name);
    pthread_join(reader, NULL);
    unlink(name);
    struct stat file;
    return written == 0 && stat(profile, &file) == 0 && file.st_size > 65536 ? 0 : 4;
}

static void *writes_last(void *first) {
    pthread_join(*(pthread_t *)first, NULL);
    exit(allod_profile_dump(profile) == 0 ? 0 : 4);
}

int main(int count, char **words) {
    if (count != 3 || allod_profile_start(4096) != 0) return 2;
    const char *how = words[1];
    profile = words[2];
    takes();
    pthread_t thread;
    if (strcmp(how, "small-stack") == 0) ends_on_a_small_stack();
    if (strcmp(how, "piped") == 0) return piped();
    if (strcmp(how, "shrunk") == 0) shrunk();
    if (strcmp(how, "unmapped") == 0) {
        pthread_create(&thread, NULL, maps_and_unmaps, NULL);
        for (int i = 0; i < 500; i++)
            if (allod_profile_dump(profile) != 0) return 4;
        done = 1;
        pthread_join(thread, NULL);
    }
    if (strcmp(how, "interrupted") == 0) {
        pthread_create(&thread, NULL, forks, NULL);
        interrupted();
        done = 1;
        pthread_join(thread, NULL);
    }
    if (strcmp(how, "ended") == 0) {
        static pthread_t first;
        first = pthread_self();
        pthread_create(&thread, NULL, writes_last, &first);
        pthread_exit(NULL);
    }
    return allod_profile_dump(profile) == 0 ? 0 : 4;
}
