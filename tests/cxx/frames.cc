// allod/frame.h compiles as C++ and keeps its promises there. modes: shared archive static
#include "../c/check.h"
#include <allod/frame.h>
#include <new>

struct Particle {
    float x, y, z;
    int life;
};

int main() {
    check_allod_is_malloc();
    allod_arena *arena = allod_arena_create();
    CHECK(arena != nullptr);
    for (int round = 0; round < 10; round++) {
        allod_frame frame = allod_frame_begin(arena);
        void *room = allod_frame_batch(&frame, 1000, sizeof(Particle), alignof(Particle));
        CHECK(room != nullptr);
        Particle *particles = static_cast<Particle *>(room);
        for (int i = 0; i < 1000; i++) new (&particles[i]) Particle{0, 0, float(i), round};
        int sum = 0;
        for (int i = 0; i < 1000; i++) sum += particles[i].life;
        CHECK(sum == 1000 * round);
        allod_frame_end(&frame);
    }
    allod_arena_destroy(arena);
}
