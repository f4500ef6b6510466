/* Frames through allod/frame.h. modes: shared archive static */
#define _GNU_SOURCE
#include "check.h"
#include <allod/frame.h>
#include <pthread.h>

/* All that a frame gives is aligned, holds what is written, and overlaps nothing. */
static void blocks_are_aligned_and_apart(void) {
    enum { BLOCKS = 2000 };
    static unsigned char *blocks[BLOCKS];
    allod_arena *arena = allod_arena_create();
    CHECK(arena != NULL);
    CHECK(allod_arena_reserved(arena) == 0);
    for (int round = 0; round < 3; round++) {
        allod_frame frame = allod_frame_begin(arena);
        CHECK(allod_frame_used(&frame) == 0);
        for (size_t i = 0; i < BLOCKS; i++) {
            size_t align = (size_t)1 << (i % 8);
            blocks[i] = (unsigned char *)allod_frame_alloc(&frame, i % 300, align);
            CHECK(blocks[i] != NULL);
            CHECK(is_aligned(blocks[i], align));
            memset(blocks[i], (int)(i & 0xFF), i % 300);
        }
        for (size_t i = 0; i < BLOCKS; i++) CHECK(is_filled(blocks[i], (int)(i & 0xFF), i % 300));
        allod_frame_end(&frame);
    }
    allod_arena_destroy(arena);
    allod_arena_destroy(NULL);
}

static void a_second_frame_takes_no_new_memory(void) {
    allod_arena *arena = allod_arena_create();
    size_t reserved = 0;
    for (int round = 0; round < 5; round++) {
        allod_frame frame = allod_frame_begin(arena);
        for (int i = 0; i < 100; i++) CHECK(allod_frame_alloc(&frame, 65536, 8) != NULL);
        allod_frame_end(&frame);
        if (round > 0) CHECK(allod_arena_reserved(arena) == reserved);
        reserved = allod_arena_reserved(arena);
    }
    allod_arena_trim(arena);
    CHECK(allod_arena_reserved(arena) == 0);
    allod_arena_destroy(arena);
}

static void scopes_and_checkpoints_give_back(void) {
    allod_arena *arena = allod_arena_create();
    allod_frame frame = allod_frame_begin(arena);
    char *text = allod_frame_strdup(&frame, "frame");
    size_t used = allod_frame_used(&frame);
    allod_frame scope = allod_frame_scope(&frame);
    CHECK(allod_frame_zalloc(&scope, 1000000, 64) != NULL);
    allod_frame_end(&scope);
    CHECK(allod_frame_used(&frame) == used);

    scope = allod_frame_scope(&frame);
    int *kept = (int *)allod_frame_batch(&scope, 100000, sizeof(int), sizeof(int));
    CHECK(kept != NULL);
    kept[99999] = 5;
    allod_frame_keep(&frame, &scope);
    CHECK(allod_frame_used(&frame) >= used + 400000);

    allod_checkpoint checkpoint = allod_frame_checkpoint(&frame);
    size_t before = allod_frame_used(&frame);
    CHECK(allod_frame_copy(&frame, text, 6, 1) != NULL);
    allod_frame_rollback(&frame, checkpoint);
    CHECK(allod_frame_used(&frame) == before);
    CHECK(strcmp(text, "frame") == 0);
    CHECK(kept[99999] == 5);
    allod_frame_end(&frame);
    allod_arena_destroy(arena);
}

static void the_newest_block_grows_in_place(void) {
    allod_arena *arena = allod_arena_create();
    allod_frame frame = allod_frame_begin(arena);
    char *first = (char *)allod_frame_alloc(&frame, 100, 1);
    memset(first, 'x', 100);
    CHECK(allod_frame_resize(&frame, first, 100, 5000, 1) == first);
    char *second = (char *)allod_frame_alloc(&frame, 10, 1);
    CHECK(second == first + 5000);
    char *moved = (char *)allod_frame_resize(&frame, first, 5000, 6000, 1);
    CHECK(moved != NULL);
    CHECK(moved != first);
    CHECK(is_filled(moved, 'x', 100));
    CHECK(allod_frame_resize(&frame, first, 5000, 10, 1) == first);

    /* A larger alignment than the block happens to have, larger and smaller. */
    char *base = (char *)allod_frame_alloc(&frame, 1, 256);
    CHECK(base != NULL);
    char *odd = (char *)allod_frame_alloc(&frame, 100, 1);
    CHECK(odd != NULL);
    memset(odd, 'y', 100);
    char *aligned = (char *)allod_frame_resize(&frame, odd, 100, 200, 128);
    CHECK(is_aligned(aligned, 128));
    CHECK(is_filled(aligned, 'y', 100));
    char *odder = (char *)allod_frame_alloc(&frame, 100, 1);
    char *last = (char *)allod_frame_alloc(&frame, 100, 1);
    memset(odder, 'z', 100);
    memset(last, 'l', 100);
    char *smaller = (char *)allod_frame_resize(&frame, odder, 100, 50, 256);
    CHECK(is_aligned(smaller, 256));
    CHECK(is_filled(smaller, 'z', 50));
    CHECK(is_filled(last, 'l', 100));
    allod_frame_end(&frame);
    allod_arena_destroy(arena);
}

static void what_is_too_large_is_enomem(void) {
    allod_arena *arena = allod_arena_create();
    allod_frame frame = allod_frame_begin(arena);
    errno = 0;
    CHECK(allod_frame_alloc(&frame, opaque_size(SIZE_MAX - 100), 8) == NULL);
    CHECK(errno == ENOMEM);
    errno = 0;
    CHECK(allod_frame_batch(&frame, opaque_size(SIZE_MAX / 2), 16, 8) == NULL);
    CHECK(errno == ENOMEM);
    errno = 77;
    CHECK(allod_frame_alloc(&frame, 10, 8) != NULL);
    CHECK(errno == 77);
    allod_frame_end(&frame);
    allod_arena_destroy(arena);
}

static void *in_thread(void *number) {
    for (int round = 0; round < 100; round++) {
        allod_frame outer = allod_thread_frame_begin();
        CHECK(outer.arena != NULL);
        char *a = (char *)allod_frame_alloc(&outer, 10000, 1);
        memset(a, *(int *)number, 10000);
        allod_frame inner = allod_thread_frame_begin();
        CHECK(inner.arena != outer.arena);
        memset(allod_frame_alloc(&inner, 10000, 1), 99, 10000);
        allod_thread_frame_end(&inner);
        CHECK(is_filled(a, *(int *)number, 10000));
        allod_thread_frame_end(&outer);
    }
    return NULL;
}

static void threads_have_arenas_of_their_own(void) {
    pthread_t threads[4];
    int numbers[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, in_thread, &numbers[i]) == 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(void) {
    check_allod_is_malloc();
    blocks_are_aligned_and_apart();
    a_second_frame_takes_no_new_memory();
    scopes_and_checkpoints_give_back();
    the_newest_block_grows_in_place();
    what_is_too_large_is_enomem();
    threads_have_arenas_of_their_own();
    return 0;
}
