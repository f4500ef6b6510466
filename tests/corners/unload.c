/* A Rust library with Allod as its allocator, loaded by a program in C and unloaded, again and again.
 *
 * Promised: after dlclose the program runs on: threads that used the library end, memory that was on
 * its way back does not need it, fork finds no handler of it. (It is promised as well if the library
 * stays loaded.)
 *
 * unload LIBRARY */
#define _GNU_SOURCE
#include "corner.h"

enum { ROUNDS = 20, THREADS = 4 };

static uint64_t (*work)(uint64_t);
static pthread_barrier_t used, unloaded;

static void *use_and_end(void *seed) {
    CHECK(work((uintptr_t)seed) > 0);
    CHECK(work((uintptr_t)seed) > 0);
    pthread_barrier_wait(&used);
    pthread_barrier_wait(&unloaded);
    return NULL;
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    watchdog(20);
    int stayed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) fprintf(stderr, "%s\n", dlerror());
        CHECK(library != NULL);
        *(void **)&work = dlsym(library, "corner_work");
        CHECK(work != NULL);
        if (round % 2) CHECK(work(7) > 0);
        pthread_barrier_init(&used, NULL, THREADS + 1);
        pthread_barrier_init(&unloaded, NULL, THREADS + 1);
        for (uintptr_t i = 0; i < THREADS; i++) threads[i] = start_thread(use_and_end, (void *)i);
        pthread_barrier_wait(&used);
        if (round % 3 == 2) { /* unloaded after its threads have ended */
            pthread_barrier_wait(&unloaded);
            for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
        }
        CHECK(dlclose(library) == 0);
        library = dlopen(arguments[1], RTLD_NOW | RTLD_NOLOAD);
        if (library != NULL) {
            stayed++;
            dlclose(library);
        }
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) _exit(0);
        CHECK(ended_well(child));
        if (round % 3 != 2) {
            pthread_barrier_wait(&unloaded);
            for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
        }
        sleep_ms(round % 10 == 0 ? 1000 : 40);
        pthread_barrier_destroy(&used);
        pthread_barrier_destroy(&unloaded);
    }
    printf("loaded still after dlclose in %d of %d rounds\n", stayed, ROUNDS);
    return 0;
}
