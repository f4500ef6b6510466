/* What C, POSIX and glibc promise of malloc, calloc, realloc, reallocarray and free. */
#define _GNU_SOURCE
#include "check.h"
#include <malloc.h>

/* Not in every C library, so weak: the preloaded library brings them. */
__attribute__((weak)) void cfree(void *block);
__attribute__((weak)) void *pvalloc(size_t size);
__attribute__((weak)) void free_sized(void *block, size_t size);
__attribute__((weak)) void free_aligned_sized(void *block, size_t align, size_t size);

static const size_t huge_sizes[] = {
    (size_t)PTRDIFF_MAX + 1, (size_t)PTRDIFF_MAX + 4096, SIZE_MAX - 4096, SIZE_MAX - 15,
    SIZE_MAX - 1,            SIZE_MAX,
};
#define HUGE_SIZES (sizeof huge_sizes / sizeof huge_sizes[0])

static void blocks_of_every_small_size_are_aligned_writable_and_large_enough(void) {
    for (size_t size = 0; size <= 5000; size++) {
        errno = 77;
        unsigned char *block = opaque(malloc(size));
        CHECK(block != NULL && errno == 77);
        CHECK(is_aligned(block, size < 16 && size > 0 ? 8 : 16));
        CHECK(malloc_usable_size(block) >= size);
        memset(block, 0xA5, malloc_usable_size(block));
        free(block);
        CHECK(errno == 77);
    }
}

static void large_blocks_of_all_magnitudes_hold_their_bytes(void) {
    for (size_t size = 4096; size <= (size_t)1 << 30; size *= 2) {
        for (int off = -1; off <= 1; off++) {
            size_t bytes = size + (size_t)off;
            unsigned char *block = opaque(malloc(bytes));
            CHECK(block != NULL && is_aligned(block, 16));
            CHECK(malloc_usable_size(block) >= bytes);
            block[0] = 1;
            block[bytes / 2] = 2;
            block[bytes - 1] = 3;
            CHECK(block[0] == 1 && block[bytes / 2] == 2 && block[bytes - 1] == 3);
            free(block);
        }
    }
}

static void zero_size_gives_distinct_pointers(void) {
    void *blocks[100];
    for (int i = 0; i < 100; i++) {
        blocks[i] = opaque(i % 2 ? malloc(0) : calloc(opaque_size(0), 7));
        CHECK(blocks[i] != NULL);
        for (int j = 0; j < i; j++) CHECK(blocks[i] != blocks[j]);
    }
    for (int i = 0; i < 100; i++) free(blocks[i]);
}

static void impossible_sizes_fail_with_enomem(void) {
    for (size_t i = 0; i < HUGE_SIZES; i++) {
        size_t size = opaque_size(huge_sizes[i]);
        errno = 0;
        CHECK(malloc(size) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(calloc(1, size) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(realloc(NULL, size) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(valloc(size) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(pvalloc(size) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(memalign(64, size) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(aligned_alloc(64, size) == NULL && errno == ENOMEM);
    }
    errno = 0;
    CHECK(malloc(opaque_size(PTRDIFF_MAX)) == NULL && errno == ENOMEM);
}

static void products_that_overflow_fail_with_enomem(void) {
    size_t half = opaque_size(SIZE_MAX / 2 + 1);
    void *block = opaque(malloc(10));
    memset(block, 5, 10);
    errno = 0;
    CHECK(calloc(half, 2) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(calloc(2, half) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(calloc(opaque_size((size_t)1 << 33), (size_t)1 << 33) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(reallocarray(NULL, half, 2) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(reallocarray(block, half, 2) == NULL && errno == ENOMEM);
    CHECK(is_filled(block, 5, 10));
    free(block);
}

static void calloc_clears_recycled_memory(void) {
    for (size_t size = 1; size <= (size_t)1 << 22; size = size * 3 / 2 + 1) {
        void *dirty[8];
        for (int i = 0; i < 8; i++) {
            dirty[i] = opaque(malloc(size));
            CHECK(dirty[i] != NULL);
            memset(dirty[i], 0xFF, malloc_usable_size(dirty[i]));
        }
        for (int i = 0; i < 8; i++) free(dirty[i]);
        for (int i = 0; i < 8; i++) {
            errno = 77;
            dirty[i] = opaque(calloc(1, size));
            CHECK(dirty[i] != NULL && errno == 77 && is_filled(dirty[i], 0, size));
        }
        for (int i = 0; i < 8; i++) free(dirty[i]);
    }
}

static void realloc_keeps_content_growing_and_shrinking(void) {
    unsigned char *block = NULL;
    size_t before = 0;
    for (size_t size = 1; size <= (size_t)1 << 26; size = size * 5 / 3 + 1) {
        errno = 77;
        block = opaque(realloc(block, size));
        CHECK(block != NULL && errno == 77 && malloc_usable_size(block) >= size);
        CHECK(is_filled(block, 0x5A, before));
        memset(block, 0x5A, size);
        before = size;
    }
    for (size_t size = before; size > 0; size = size * 3 / 5) {
        block = opaque(realloc(block, size));
        CHECK(block != NULL && is_filled(block, 0x5A, size));
    }
    free(block);
}

static void realloc_among_small_sizes_keeps_content(void) {
    for (size_t from = 0; from <= 600; from += 7) {
        for (size_t to = 1; to <= 600; to += 11) {
            unsigned char *block = opaque(malloc(from));
            memset(block, 0x3C, from);
            block = opaque(realloc(block, to));
            CHECK(block != NULL && is_filled(block, 0x3C, from < to ? from : to));
            free(block);
        }
    }
}

static void realloc_to_zero_frees_and_returns_null(void) {
    void *block = opaque(malloc(100));
    errno = 77;
    CHECK(realloc(block, opaque_size(0)) == NULL && errno == 77);
    block = opaque(malloc(100));
    CHECK(reallocarray(block, opaque_size(0), 8) == NULL && errno == 77);
}

static void realloc_of_null_is_malloc(void) {
    void *block = opaque(realloc(NULL, opaque_size(0)));
    CHECK(block != NULL);
    free(block);
    block = opaque(reallocarray(NULL, 3, 5));
    CHECK(block != NULL && malloc_usable_size(block) >= 15);
    free(block);
}

static void failed_realloc_leaves_the_block(void) {
    static const size_t sizes[] = {1, 100, 3000, 100000, 5000000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        void *block = opaque(malloc(sizes[i]));
        memset(block, 9, sizes[i]);
        for (size_t j = 0; j < HUGE_SIZES; j++) {
            errno = 0;
            CHECK(realloc(block, opaque_size(huge_sizes[j])) == NULL && errno == ENOMEM);
        }
        errno = 0;
        CHECK(realloc(block, opaque_size((size_t)1 << 50)) == NULL && errno == ENOMEM);
        CHECK(is_filled(block, 9, sizes[i]));
        free(block);
    }
}

static void free_keeps_errno_for_every_size(void) {
    free(NULL);
    cfree(NULL);
    for (size_t size = 1; size <= (size_t)1 << 28; size *= 2) {
        void *block = opaque(malloc(size));
        CHECK(block != NULL);
        memset(block, 1, size < 65536 ? size : 65536);
        errno = 77;
        free(block);
        CHECK(errno == 77);
    }
}

static void other_names_of_free_give_blocks_back(void) {
    for (size_t size = 0; size < 3000000; size = size * 2 + 1) {
        for (int round = 0; round < 50; round++) {
            free_sized(opaque(malloc(size)), size);
            free_sized(opaque(calloc(1, size)), size);
            free_sized(opaque(realloc(opaque(malloc(3)), size + 1)), size + 1);
            free_aligned_sized(opaque(aligned_alloc(64, size)), 64, size);
            free_aligned_sized(opaque(aligned_alloc(8192, size)), 8192, size);
            cfree(opaque(malloc(size)));
        }
    }
    free_sized(NULL, 10);
    free_aligned_sized(NULL, 16, 10);
}

static void usable_size_may_be_used(void) {
    CHECK(malloc_usable_size(NULL) == 0);
    for (size_t size = 1; size < 2000000; size = size * 4 / 3 + 1) {
        size_t usable;
        unsigned char *a = opaque(malloc(size));
        unsigned char *b = opaque(malloc(size));
        usable = malloc_usable_size(a);
        memset(a, 1, usable);
        memset(b, 2, malloc_usable_size(b));
        CHECK(is_filled(a, 1, usable));
        free(a);
        free(b);
    }
}

int main(void) {
    check_allod_is_malloc();
    blocks_of_every_small_size_are_aligned_writable_and_large_enough();
    large_blocks_of_all_magnitudes_hold_their_bytes();
    zero_size_gives_distinct_pointers();
    impossible_sizes_fail_with_enomem();
    products_that_overflow_fail_with_enomem();
    calloc_clears_recycled_memory();
    realloc_keeps_content_growing_and_shrinking();
    realloc_among_small_sizes_keeps_content();
    realloc_to_zero_frees_and_returns_null();
    realloc_of_null_is_malloc();
    failed_realloc_leaves_the_block();
    free_keeps_errno_for_every_size();
    other_names_of_free_give_blocks_back();
    usable_size_may_be_used();
    return 0;
}
