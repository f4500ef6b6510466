/* A frame, a region and pairs in it, whose sizes are known, in the heap profile that is written meanwhile to the file that
 * the argument names. */
#include <stdio.h>
#include <string.h>

#include "allod/frame.h"
#include "allod/heap.h"
#include "allod/region.h"

enum { FRAME = 5 << 20, REGION = 3 << 20, PAIRS = 100 };

int main(int count, char **words) {
    if (count != 2 || allod_profile_start(524288) != 0) return 2;
    allod_arena *arena = allod_arena_create();
    if (arena == NULL) return 3;
    allod_frame frame = allod_frame_begin(arena);
    char *in_frame = allod_frame_alloc(&frame, FRAME, 64);
    allod_region *region = allod_region_create();
    char *in_region = allod_region_alloc(region, REGION);
    if (in_frame == NULL || in_region == NULL) return 4;
    memset(in_frame, 1, FRAME);
    memset(in_region, 1, REGION);
    for (int i = 0; i < PAIRS; i++) allod_mk_pair(region, ALLOD_NIL, ALLOD_NIL);
    int failed = allod_profile_dump(words[1]);
    allod_region_exit(region);
    allod_frame_end(&frame);
    allod_arena_destroy(arena);
    if (failed) return 5;
    printf("frame %d\nregion %d\npair %d\n", FRAME, REGION, 16 * PAIRS);
    return 0;
}
