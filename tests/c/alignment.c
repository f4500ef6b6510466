/* What C23, POSIX and glibc promise of allocation with an alignment. */
#define _GNU_SOURCE
#include "check.h"
#include <malloc.h>
#include <unistd.h>

/* Not in every C library, so weak: the preloaded library brings it. */
__attribute__((weak)) void *pvalloc(size_t size);

#define GIB ((size_t)1 << 30)

static const size_t sizes[] = {0, 1, 7, 16, 33, 100, 1000, 4095, 4096, 4097, 70000, 3000000};
#define SIZES (sizeof sizes / sizeof sizes[0])

/* One block of a size and alignment: aligned, large enough, writable to its ends. */
static void check_block(unsigned char *block, size_t align, size_t size) {
    CHECK(block != NULL);
    CHECK(is_aligned(block, align));
    CHECK(malloc_usable_size(block) >= size);
    if (size > 0) {
        block[0] = 1;
        block[size - 1] = 2;
    }
}

static void every_alignment_up_to_a_gibibyte_is_met(void) {
    for (size_t align = 1; align <= GIB; align *= 2) {
        for (size_t i = 0; i < SIZES; i++) {
            void *from_posix = NULL;
            errno = 77;
            unsigned char *a = opaque(aligned_alloc(align, sizes[i]));
            unsigned char *b = opaque(memalign(align, sizes[i]));
            check_block(a, align, sizes[i]);
            check_block(b, align, sizes[i]);
            CHECK(a != b);
            if (align >= sizeof(void *)) {
                CHECK(posix_memalign(&from_posix, align, sizes[i]) == 0);
                check_block(from_posix, align, sizes[i]);
            }
            CHECK(errno == 77);
            free(a);
            free(b);
            free(from_posix);
            CHECK(errno == 77);
        }
    }
}

static void aligned_blocks_do_not_overlap(void) {
    for (size_t align = 16; align <= 65536; align *= 4) {
        unsigned char *blocks[64];
        for (int i = 0; i < 64; i++) {
            blocks[i] = opaque(aligned_alloc(align, 200));
            check_block(blocks[i], align, 200);
            memset(blocks[i], i, 200);
        }
        for (int i = 0; i < 64; i++) CHECK(is_filled(blocks[i], i, 200));
        for (int i = 0; i < 64; i++) free(blocks[i]);
    }
}

static void realloc_takes_aligned_blocks(void) {
    for (size_t align = 8; align <= 65536 * 4; align *= 2) {
        unsigned char *block = opaque(aligned_alloc(align, 300));
        memset(block, 6, 300);
        block = opaque(realloc(block, 20000));
        CHECK(block != NULL && is_filled(block, 6, 300));
        block = opaque(realloc(block, 100));
        CHECK(block != NULL && is_filled(block, 6, 100));
        free(block);
    }
}

static void aligned_alloc_refuses_what_is_no_power_of_two(void) {
    static const size_t wrong[] = {0, 3, 5, 6, 7, 12, 24, 48, 100, 4095, GIB + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        errno = 0;
        CHECK(aligned_alloc(opaque_size(wrong[i]), 64) == NULL && errno == EINVAL);
    }
}

static void posix_memalign_returns_its_errors_and_leaves_the_pointer(void) {
    static const size_t wrong[] = {0, 1, 2, 4, 3, 12, 24, 48, 100, GIB + 8, SIZE_MAX};
    void *out = &out;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        errno = 77;
        CHECK(posix_memalign(&out, opaque_size(wrong[i]), 64) == EINVAL);
        CHECK(out == &out && errno == 77);
    }
    /* As in glibc: want of memory is in errno, too. */
    static const struct {
        size_t align, size;
    } large[] = {{64, SIZE_MAX},
                 {64, SIZE_MAX - 63},
                 {4096, PTRDIFF_MAX},
                 {(size_t)1 << 62, 1},
                 {(size_t)1 << 63, 1}};
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        errno = 77;
        CHECK(posix_memalign(&out, large[i].align, opaque_size(large[i].size)) == ENOMEM);
        CHECK(out == &out && errno == ENOMEM);
    }
}

static void memalign_rounds_alignments_up(void) {
    static const size_t odd[] = {0, 3, 12, 24, 48, 100, 5000};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        size_t power = 1;
        while (power < odd[i]) power *= 2;
        void *block = opaque(memalign(opaque_size(odd[i]), 40));
        check_block(block, power, 40);
        free(block);
    }
    errno = 0;
    CHECK(memalign(opaque_size(((size_t)1 << 63) + 1), 1) == NULL && errno == EINVAL);
    errno = 0;
    CHECK(memalign(opaque_size((size_t)1 << 63), 1) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(aligned_alloc(opaque_size((size_t)1 << 62), 1) == NULL && errno == ENOMEM);
}

static void valloc_and_pvalloc_give_pages(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < SIZES; i++) {
        unsigned char *block = opaque(valloc(sizes[i]));
        size_t whole = (sizes[i] + page - 1) / page * page;
        check_block(block, page, sizes[i]);
        free(block);
        block = opaque(pvalloc(sizes[i]));
        check_block(block, page, whole);
        free(block);
    }
}

int main(void) {
    check_allod_is_malloc();
    every_alignment_up_to_a_gibibyte_is_met();
    aligned_blocks_do_not_overlap();
    realloc_takes_aligned_blocks();
    aligned_alloc_refuses_what_is_no_power_of_two();
    posix_memalign_returns_its_errors_and_leaves_the_pointer();
    memalign_rounds_alignments_up();
    valloc_and_pvalloc_give_pages();
    return 0;
}
