/* The __libc_* names that programs written for glibc bind to lead to the same heap. */
#define _GNU_SOURCE
#include "check.h"
#include <malloc.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);
void *__libc_memalign(size_t align, size_t size);
void *__libc_valloc(size_t size);
void *__libc_pvalloc(size_t size);

static void blocks_may_be_mixed_between_both_families_of_names(void) {
    for (int i = 0; i < 10000; i++) {
        size_t size = (size_t)(i * 37 % 9000);
        char *block = opaque(__libc_malloc(size));
        CHECK(block != NULL && malloc_usable_size(block) >= size);
        memset(block, 1, size);
        free(block);
        __libc_free(opaque(malloc(size)));
        block = opaque(__libc_realloc(opaque(calloc(1, size + 1)), size + 100));
        CHECK(block != NULL && is_filled(block, 0, size + 1));
        block = opaque(realloc(block, size + 1));
        CHECK(block != NULL && is_filled(block, 0, size + 1));
        __libc_free(block);
        block = opaque(__libc_calloc(3, size));
        CHECK(block != NULL && is_filled(block, 0, 3 * size));
        free(block);
    }
}

static void aligned_names_align(void) {
    void *block = opaque(__libc_memalign(1024, 10));
    CHECK(block != NULL && is_aligned(block, 1024));
    free(block);
    block = opaque(__libc_valloc(10));
    CHECK(block != NULL && is_aligned(block, 4096));
    free(block);
    block = opaque(__libc_pvalloc(10));
    CHECK(block != NULL && is_aligned(block, 4096) && malloc_usable_size(block) >= 4096);
    free(block);
}

int main(void) {
    check_allod_is_malloc();
    blocks_may_be_mixed_between_both_families_of_names();
    aligned_names_align();
    return 0;
}
