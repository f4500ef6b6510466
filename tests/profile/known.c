/* A program whose allocations by place are known; with "fork" in a child, too. Prints what a profile should say: place,
 * bytes live, bytes in all. Sizes are those of size classes, less what the hardened build adds to a request (SLACK). */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allod/heap.h"

#ifndef SLACK
#define SLACK 0
#endif

enum { KEPT = 40000, PASSED = 60000, THREADS = 4 };

static void *kept[KEPT], *passed[PASSED], *large[16], *grown;

__attribute__((noinline)) static void keeps_small(void) {
    for (int i = 0; i < KEPT; i++) kept[i] = malloc(512 - SLACK);
}

/* The front cache serves all of these from a few blocks. */
__attribute__((noinline)) static void uses_again(void) {
    for (int i = 0; i < 300000; i++) {
        char *volatile block = malloc(128 - SLACK);
        free(block);
    }
}

__attribute__((noinline)) static void passes_on(void) {
    for (int i = 0; i < PASSED; i++) passed[i] = malloc(256 - SLACK);
}

__attribute__((noinline)) static void zeroes_medium(void) {
    for (int i = 0; i < 2000; i++) {
        char *volatile block = calloc(1, 20480 - SLACK);
        free(block);
    }
}

__attribute__((noinline)) static void keeps_large(void) {
    for (int i = 0; i < 16; i++) large[i] = malloc(2 << 20);
}

__attribute__((noinline)) static void grows_large(void) {
    grown = malloc(4 << 20);
    grown = realloc(grown, 32 << 20);
}

/* Blocks of first-class heaps are nobody's samples, nor what becomes of them. */
__attribute__((noinline)) static void grows_in_a_heap(void) {
    allod_heap_t *heap = allod_heap_new();
    void *block = allod_heap_malloc(heap, 2 << 20);
    for (int mib = 4; mib <= 32; mib++) block = allod_heap_realloc(heap, block, mib << 20);
    allod_heap_destroy(heap);
}

static void *takes_in_a_thread(void *nothing) {
    passes_on();
    return nothing;
}

static void *uses_in_a_thread(void *nothing) {
    uses_again();
    return nothing;
}

int main(int count, char **words) {
    const char *how = count > 1 ? words[1] : "";
    if (strcmp(how, "dumps") == 0) {
        if (allod_profile_start(0) == 0 || allod_profile_start(16384) != 0) return 3;
    }
    /* Blocks of no bytes are nobody's samples. */
    for (int i = 0; i < 1000; i++) free(malloc(0));
    keeps_small();
    zeroes_medium();
    keeps_large();
    grows_large();
    grows_in_a_heap();
    pthread_t thread, threads[THREADS];
    pthread_create(&thread, NULL, takes_in_a_thread, NULL);
    pthread_join(thread, NULL);
    /* Half of another thread's blocks are freed here. */
    for (int i = 0; i < PASSED; i += 2) free(passed[i]);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, uses_in_a_thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        if (strcmp(how, "dumps") == 0)
            for (int n = 0; n < 20; n++)
                if (allod_profile_dump(words[2]) != 0) return 4;
        pthread_join(threads[i], NULL);
    }
    if (strcmp(how, "fork") == 0) {
        pid_t child = fork();
        if (child == 0) {
            for (int i = 0; i < KEPT; i++) free(kept[i]);
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
    printf("keeps_small %d %d\n", KEPT * 512, KEPT * 512);
    printf("uses_again 0 %d\n", THREADS * 300000 * 128);
    printf("passes_on %d %d\n", PASSED / 2 * 256, PASSED * 256);
    printf("zeroes_medium 0 %d\n", 2000 * 20480);
    printf("keeps_large %d %d\n", 16 * (2 << 20), 16 * (2 << 20));
    printf("grows_large %d %d\n", 32 << 20, 36 << 20);
    puts("grows_in_a_heap 0 0");
    if (strcmp(how, "dumps") == 0) {
        allod_profile_stop();
        return allod_profile_dump(words[2]) == 0 ? 0 : 5;
    }
    return 0;
}
