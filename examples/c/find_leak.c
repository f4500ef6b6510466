/* Finding a leak: do the same work again and again, and look at what the heap holds after each round. What
 * grows by the same amount each time is not a cache warming up. The report on standard error then shows by
 * size class which blocks stay; `allod record` and `allod trace` show the calls that made them. */
#include <allod/heap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 8, REQUESTS = 1000 };

/* A request that forgets to free its name when it is given one. */
static void serve(const char *name) {
    char *copy = malloc(48);
    char *answer = malloc(200);
    if (copy) strcpy(copy, name);
    free(answer);
    if (!*name) free(copy);
}

/* Bytes that the program holds; 0 if the library does not say. */
static unsigned long long held(void) {
    allod_stats now = {.record_size = sizeof now};
    return allod_stats_get(&now) == 0 ? now.small_bytes + now.large_bytes : 0;
}

/* Whether serving requests for `name` leaves more behind after every round. */
static int leaks(const char *name) {
    unsigned long long before = 0, growth = 0;
    int grew = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < REQUESTS; i++) serve(name);
        unsigned long long now = held();
        /* The first rounds fill caches. */
        if (round >= 2 && now > before) grew++, growth += now - before;
        before = now;
    }
    if (grew < ROUNDS - 2) return 0;
    printf("%llu bytes per request stay behind\n", growth / (unsigned long long)grew / REQUESTS);
    return 1;
}

int main(void) {
    if (leaks("")) return 1;
    if (!leaks("somebody")) return 1;
    allod_stats_print(2);
    return 0;
}
