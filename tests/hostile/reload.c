/* Calls a function back from two libraries, one after the other at the same place. The function misuses the heap: its report is to
   name main both times, though frames of the two libraries differ in size. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef FRAME
/* One of the libraries. */
void call_back(void (*function)(void)) {
    volatile char room[FRAME];
    room[0] = 1;
    function();
    room[1] = room[0];
}
#else
static __attribute__((noinline, noipa)) void misuses(void) {
    free((void *)(uintptr_t)16);
    __asm__ volatile("" : : : "memory");
}

int main(int count, char **libraries) {
    void *places[2];
    if (count != 3) return 2;
    for (int i = 0; i < 2; i++) {
        void *library = dlopen(libraries[i + 1], RTLD_NOW);
        if (library == NULL) return 3;
        places[i] = dlsym(library, "call_back");
        void (*call_back)(void (*)(void));
        *(void **)&call_back = places[i];
        call_back(misuses);
        dlclose(library);
    }
    puts(places[0] == places[1] ? "same place" : "another place");
    return 0;
}
#endif
