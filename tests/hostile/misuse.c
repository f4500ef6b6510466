/* Misuses the heap in the way its argument names, then says that it went on. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Hides a value from the optimiser and its warnings. */
static void *opaque(void *p) {
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

static void double_free(size_t size) {
    void *block = opaque(malloc(size));
    free(block);
    free(opaque(block));
}

/* The block has left the front cache before it is freed again. */
static void double_free_in_slab(void) {
    enum { COUNT = 5000 };
    static void *blocks[COUNT];
    for (int i = 0; i < COUNT; i++) blocks[i] = malloc(64);
    for (int i = 0; i < COUNT; i++) free(blocks[i]);
    for (int i = 0; i < COUNT; i++) free(opaque(blocks[i]));
}

/* A small block's front cache takes any address in its slab; the slab does not. */
static void interior_free_in_slab(void) {
    enum { COUNT = 5000 };
    static char *blocks[COUNT];
    for (int i = 0; i < COUNT; i++) blocks[i] = malloc(64);
    for (int i = 0; i < COUNT; i++) free(opaque(blocks[i] + 16));
}

/* The blocks have left the front cache, and the slab knows that they are free. */
static void interior_free_of_freed(void) {
    enum { COUNT = 5000 };
    static char *blocks[COUNT];
    for (int i = 0; i < COUNT; i++) blocks[i] = malloc(64);
    for (int i = 0; i < COUNT; i++) free(blocks[i]);
    for (int i = 0; i < COUNT; i++) free(opaque(blocks[i] + 16));
}

static void interior_free_of_freed_large(void) {
    char *block = opaque(malloc(10 << 20));
    free(block);
    free(opaque(block + 16));
}

static void interior_free(size_t size, size_t offset) {
    char *block = opaque(malloc(size));
    free(opaque(block + offset));
}

static void free_of_the_stack(void) {
    char bytes[64];
    free(opaque(bytes));
}

static void free_of_foreign_memory(void) {
    free(opaque(mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)));
}

static void misuse(const char *kind) {
    static char of_program[64];
    if (strcmp(kind, "double-small") == 0) double_free(100);
    else if (strcmp(kind, "double-medium") == 0) double_free(100000);
    else if (strcmp(kind, "double-large") == 0) double_free(10 << 20);
    else if (strcmp(kind, "double-slab") == 0) double_free_in_slab();
    else if (strcmp(kind, "interior-slab") == 0) interior_free_in_slab();
    else if (strcmp(kind, "interior-freed") == 0) interior_free_of_freed();
    else if (strcmp(kind, "interior-freed-large") == 0) interior_free_of_freed_large();
    else if (strcmp(kind, "interior-large") == 0) interior_free(10 << 20, 4096);
    else if (strcmp(kind, "stack") == 0) free_of_the_stack();
    else if (strcmp(kind, "static") == 0) free(opaque(of_program));
    else if (strcmp(kind, "foreign") == 0) free_of_foreign_memory();
    else if (strcmp(kind, "low") == 0) free(opaque((void *)16));
    else if (strcmp(kind, "high") == 0) free(opaque((void *)(UINTPTR_MAX - 15)));
    else if (strcmp(kind, "realloc-stack") == 0) free(realloc(opaque(&kind), 100));
    else exit(2);
}

/* The heap still serves after misuse that it was told to ignore. */
static void go_on(void) {
    for (int i = 0; i < 10000; i++) {
        size_t size = (size_t)(i % 300);
        char *block = opaque(malloc(size));
        if (block == NULL) exit(3);
        memset(block, 1, size);
        free(block);
    }
    puts("went on");
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    misuse(arguments[1]);
    go_on();
    return 0;
}
