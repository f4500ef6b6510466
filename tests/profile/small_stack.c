/* Prints how many bytes of its stack a thread uses that allocates a little, and frees it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK = 64 * 1024 };
static _Alignas(4096) unsigned char stack[STACK];

static void *allocates(void *nothing) {
    for (int i = 0; i < 2000; i++) {
        void *volatile block = malloc((size_t)i % 500);
        free(block);
    }
    return nothing;
}

int main(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    memset(stack, 0xA5, sizeof stack);
    if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstack(&attributes, stack, STACK) != 0) return 2;
    if (pthread_create(&thread, &attributes, allocates, NULL) != 0) return 3;
    pthread_join(thread, NULL);
    size_t untouched = 0;
    while (stack[untouched] == 0xA5) untouched++;
    printf("%zu\n", STACK - untouched);
    return 0;
}
