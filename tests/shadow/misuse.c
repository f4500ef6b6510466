/* What must not be done with a frame's memory, by the name of the mistake. */
#include <allod/frame.h>
#include <stdio.h>

static volatile char sink;

static int is(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

/* Frames, scopes, rollbacks, resizes and large blocks as they should be, twice over. */
static void no_mistake(allod_arena *arena) {
    for (int round = 0; round < 4; round++) {
        allod_frame frame = allod_frame_begin(arena);
        for (size_t i = 1; i < 2000; i++) {
            char *block = (char *)allod_frame_alloc(&frame, i * 7 % 900, 1u << (i % 8));
            memset(block, 1, i * 7 % 900);
        }
        char *block = (char *)allod_frame_alloc(&frame, 10, 1);
        memset(block, 2, 10);
        block = (char *)allod_frame_resize(&frame, block, 10, 3000, 1);
        memset(block, 3, 3000);
        block = (char *)allod_frame_resize(&frame, block, 3000, 5, 1);
        sink = block[4];
        allod_checkpoint checkpoint = allod_frame_checkpoint(&frame);
        memset(allod_frame_alloc(&frame, 300000, 64), 4, 300000);
        allod_frame_rollback(&frame, checkpoint);
        allod_frame scope = allod_frame_scope(&frame);
        sink = *allod_frame_strdup(&scope, "kept");
        allod_frame_keep(&frame, &scope);
        scope = allod_frame_scope(&frame);
        memset(allod_frame_zalloc(&scope, 500000, 8), 5, 500000);
        allod_frame_end(&scope);
        memset(allod_frame_alloc(&frame, 400000, 8), 6, 400000);
        allod_frame_end(&frame);
        allod_frame ours = allod_thread_frame_begin();
        memset(allod_frame_alloc(&ours, 1000, 1), 7, 1000);
        allod_thread_frame_end(&ours);
        if (round == 1)
            allod_arena_trim(arena);
    }
    /* The heap may have the chunks now. */
    for (int i = 0; i < 100; i++)
        allod_free(memset(allod_malloc(60000), 8, 60000));
}

int main(int count, char **arguments) {
    const char *mistake = count > 1 ? arguments[1] : "";
    allod_arena *arena = allod_arena_create();
    if (is(mistake, "none")) {
        no_mistake(arena);
        allod_arena_destroy(arena);
        return 0;
    }
    allod_frame frame = allod_frame_begin(arena);
    char *block = (char *)allod_frame_alloc(&frame, 13, 1);
    memset(block, 1, 13);
    allod_checkpoint checkpoint = allod_frame_checkpoint(&frame);
    char *newer = (char *)allod_frame_alloc(&frame, 100000, 8);
    memset(newer, 2, 100000);
    if (is(mistake, "behind-the-end")) {
        sink = block[13];
    } else if (is(mistake, "not-allocated")) {
        sink = newer[100100];
    } else if (is(mistake, "after-rollback")) {
        allod_frame_rollback(&frame, checkpoint);
        sink = newer[50000];
    } else if (is(mistake, "after-scope")) {
        allod_frame scope = allod_frame_scope(&frame);
        char *scratch = (char *)allod_frame_copy(&scope, "abc", 4, 1);
        allod_frame_end(&scope);
        sink = scratch[1];
    } else if (is(mistake, "after-shrink")) {
        newer = (char *)allod_frame_resize(&frame, newer, 100000, 50, 8);
        sink = newer[60];
    } else if (is(mistake, "after-end")) {
        allod_frame_end(&frame);
        sink = block[0];
    } else if (is(mistake, "after-thread-end")) {
        allod_frame ours = allod_thread_frame_begin();
        char *mine = allod_frame_strdup(&ours, "mine");
        allod_thread_frame_end(&ours);
        sink = mine[2];
    } else {
        fprintf(stderr, "no mistake is called '%s'\n", mistake);
        return 2;
    }
    puts("nobody has seen it");
    return 0;
}
