/* Wrong accesses to blocks, one kind a run. With a number behind the kind, only the last of so many blocks is
 * misused; the others are used well. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allod/heap.h"

static const char *kind;

static int is(const char *name) { return strcmp(kind, name) == 0; }

__attribute__((noinline)) static char *take_a_block(size_t size) {
    char *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void give_it_back(char *block) {
    free(block);
    __asm__ volatile("" ::: "memory");
}

/* The access is volatile: the compiler makes it. */
__attribute__((noinline)) static int look_at(volatile char *at) { return *at; }
__attribute__((noinline)) static void write_to(volatile char *at) { *at = 0; }

static void look_together(void);

static void misuse(void) {
    if (is("read-together")) look_together();
    if (is("read-after-free") || is("write-after-free") || is("double-free") || is("interior-free") ||
        is("realloc-after-free")) {
        char *block = take_a_block(100);
        if (is("interior-free")) give_it_back(block + 16);
        give_it_back(block);
        if (is("read-after-free")) look_at(block + 5);
        if (is("write-after-free")) write_to(block + 5);
        if (is("double-free")) give_it_back(block);
        if (is("realloc-after-free") && realloc(block, 200) == NULL) puts("null");
        return;
    }
    /* Blocks lie at the right of their pages or at the left. */
    for (int i = 0; i < 64; i++) {
        size_t size = is("overflow-large") ? 50000 : is("overwrite-one") ? 90 : 96;
        char *block = is("overflow-aligned") ? aligned_alloc(32, size) : is("overflow-zeroed") ? calloc(4, size / 4)
                                                                                              : take_a_block(size);
        if (is("underflow")) look_at(block - 1);
        else if (is("overwrite-one")) write_to(block + size);
        else if (is("empty")) block = realloc(block, 0), block = take_a_block(0), look_at(block);
        else if (is("overflow-grown")) block = realloc(block, 160), look_at(block + 160);
        else if (strncmp(kind, "overflow", 8) == 0) look_at(block + size);
        give_it_back(block);
    }
}

static pthread_barrier_t start;

static void *look_at_the_same(void *block) {
    pthread_barrier_wait(&start);
    look_at(block);
    return block;
}

/* Threads that still share a block that was freed. */
static void look_together(void) {
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    pthread_barrier_init(&start, NULL, THREADS);
    char *block = take_a_block(100);
    give_it_back(block);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, look_at_the_same, block);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

static void *in_a_thread(void *nothing) {
    misuse();
    return nothing;
}

int main(int count, char **words) {
    kind = words[1];
    int blocks = count > 2 ? atoi(words[2]) : 0;
    for (int i = 1; i < blocks; i++) {
        char *block = take_a_block(100);
        memset(block, 1, 100);
        give_it_back(block);
    }
    if (strncmp(kind, "late:", 5) == 0) {
        kind += 5;
        if (allod_guard(1) != 0) return 3;
    }
    if (strncmp(kind, "thread:", 7) == 0) {
        kind += 7;
        pthread_t thread;
        if (pthread_create(&thread, NULL, in_a_thread, NULL) != 0) return 3;
        pthread_join(thread, NULL);
    } else if (strncmp(kind, "child:", 6) == 0) {
        kind += 6;
        char *before = take_a_block(10);
        pid_t child = fork();
        if (child == 0) {
            give_it_back(before);
            misuse();
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        give_it_back(before);
        if (WIFSIGNALED(status)) raise(WTERMSIG(status));
    } else {
        misuse();
    }
    puts("went on");
    return 0;
}
