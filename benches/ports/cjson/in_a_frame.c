/* Linked to cJSON's own tests, so that all that they make lies in a frame. */
#include <allod/frame.h>

void cJSON_UseFrame(allod_frame *frame);

static allod_frame frame;

__attribute__((constructor)) static void begin(void) {
    frame = allod_frame_begin(allod_arena_create());
    cJSON_UseFrame(&frame);
}
