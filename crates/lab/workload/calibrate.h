// How fast the machine is at the moment: the time of a short loop of fixed work.
//
// The loop is a chain of dependent multiplications, so it depends on the processor's clock and on who
// shares it, but not on memory. It is timed several times; the median ignores single interruptions and
// shows lasting changes.
#ifndef ALLOD_CALIBRATE_H
#define ALLOD_CALIBRATE_H

#include <stdint.h>
#include <time.h>

enum { CALIBRATE_LOOPS = 9, CALIBRATE_STEPS = 40000 };

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t calibrate(void) {
    uint64_t times[CALIBRATE_LOOPS];
    for (unsigned i = 0; i < CALIBRATE_LOOPS; i++) {
        uint64_t start = now_ns(), x = start;
        for (unsigned k = 0; k < CALIBRATE_STEPS; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            __asm__ volatile("" : "+r"(x));
        }
        uint64_t time = now_ns() - start;
        unsigned at = i;
        for (; at && times[at - 1] > time; at--) times[at] = times[at - 1];
        times[at] = time;
    }
    return times[CALIBRATE_LOOPS / 2];
}

#endif
