/* A block that is allocated, freed and misused, each by a function of that name, in the way its argument says: reports of the
   hardened build name all three. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline, noipa))

static size_t size;

/* A call after the work keeps each function on the stack. */
static APART void stay(void) { __asm__ volatile("" : : : "memory"); }

static APART char *allocates_it(void) {
    char *block = malloc(size);
    stay();
    return block;
}

static APART void frees_it(void *block) {
    free(block);
    stay();
}

static APART void misuses_it(void *block) {
    free(block);
    stay();
}

static APART void writes_behind_it(char *block) {
    block[size] ^= 1;
    stay();
}

static void *in_thread(void *block) {
    frees_it(block);
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    size = strtoul(arguments[2], NULL, 10);
    char *block = allocates_it();
    if (strcmp(arguments[1], "double") == 0) {
        frees_it(block);
        misuses_it(block);
    } else if (strcmp(arguments[1], "double-thread") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, in_thread, block) != 0) return 3;
        pthread_join(thread, NULL);
        misuses_it(block);
    } else if (strcmp(arguments[1], "overflow") == 0) {
        writes_behind_it(block);
        misuses_it(block);
    } else if (strcmp(arguments[1], "inside") == 0) {
        misuses_it(block + 16);
    } else {
        /* Nothing is wrong, a hundred thousand times. */
        for (int i = 0; i < 100000; i++) {
            frees_it(block);
            block = allocates_it();
        }
        frees_it(block);
    }
    puts("went on");
    return 0;
}
