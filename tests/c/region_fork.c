/* fork while other threads use regions: the child uses its own, goes on with the forking thread's, and forks
 * again.
 * modes: shared archive static */
#define _GNU_SOURCE
#include "threads.h"
#include <allod/region.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2, FORKS = 2000, REGIONS = 60 };

static atomic_bool stop;

/* Takes more than a thread keeps for itself, so that every lock is met. */
static void use_regions(const char *who, unsigned n) {
    allod_region *r[REGIONS];
    char name[40];
    for (int i = 0; i < REGIONS; i++) {
        r[i] = allod_region_create();
        CHECK(r[i] != NULL && allod_region_alloc(r[i], 600) != NULL);
    }
    int len = snprintf(name, sizeof name, "%s %u", who, n % 50000);
    CHECK(allod_symbol(name, (size_t)len) == allod_symbol(name, (size_t)len));
    if (n % 64 == 0 && n < 64 * 4000) {
        allod_type type = {"used", 16, 8, 0, ALLOD_TAIL_NONE, 0, NULL, NULL};
        CHECK(allod_type_register(&type) != 0);
    }
    for (int i = 0; i < REGIONS; i++) allod_region_exit(r[i]);
}

static void *hammer(void *name) {
    for (unsigned n = 0; !atomic_load(&stop); n++) use_regions((const char *)name, n);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    char names[THREADS][2] = {"a", "b"};
    for (int i = 0; i < THREADS; i++) threads[i] = start_thread(hammer, names[i]);
    allod_region *r = allod_region_create();
    allod_value list = ALLOD_NIL;
    for (int i = 0; i < FORKS; i++) {
        list = allod_pair(r, allod_small(i), list);
        CHECK(list != ALLOD_EMPTY);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            alarm(20); /* ends a child that waits for a lock */
            use_regions("child", 0);
            list = allod_pair(r, allod_small(-1), list);
            CHECK(allod_small_value(allod_car(allod_cdr(list))) == i);
            if (i % 100 == 0) {
                pid_t grandchild = fork();
                CHECK(grandchild >= 0);
                if (grandchild == 0) use_regions("grandchild", 0);
                int status = 0;
                CHECK(grandchild == 0 || (waitpid(grandchild, &status, 0) == grandchild && status == 0));
            }
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
    allod_region_exit(r);
    return 0;
}
