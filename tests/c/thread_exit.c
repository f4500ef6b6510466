/* Frees and allocations when a thread ends: in key destructors of every round, after other
 * destructors, of blocks that outlive their thread, and in atexit handlers. */
#define _GNU_SOURCE
#include "threads.h"

enum { KEYS = 20, SURVIVORS = 500 };

static pthread_key_t keys[KEYS];
static void *survivors[SURVIVORS];
static int destructor_calls;

static void exercise(int seed) {
    void *blocks[30];
    for (int i = 0; i < 30; i++) {
        size_t size = (size_t)((i * 331 + seed * 17) % 40000);
        blocks[i] = malloc(size);
        CHECK(blocks[i] != NULL);
        memset(blocks[i], i, size);
    }
    for (int i = 0; i < 30; i++) free(blocks[i]);
}

/* Frees the value, and sets the key again twice, so that all rounds of destructors run. */
static void destroy(void *value) {
    int *left = value;
    __atomic_add_fetch(&destructor_calls, 1, __ATOMIC_RELAXED);
    exercise(*left);
    if (*left > 0) {
        int *again = malloc(sizeof *again);
        CHECK(again != NULL);
        *again = *left - 1;
        for (int i = 0; i < KEYS; i++) {
            if (pthread_getspecific(keys[i]) == NULL) {
                pthread_setspecific(keys[i], again);
                again = NULL;
                break;
            }
        }
        free(again);
    }
    free(value);
}

static void *leave_values_in_keys(void *unused) {
    (void)unused;
    exercise(1);
    for (int i = 0; i < KEYS; i++) {
        int *value = malloc(sizeof *value);
        CHECK(value != NULL);
        *value = i % 3;
        CHECK(pthread_setspecific(keys[i], value) == 0);
    }
    return NULL;
}

static void *leave_blocks_behind(void *unused) {
    (void)unused;
    for (int i = 0; i < SURVIVORS; i++) {
        survivors[i] = malloc((size_t)i * 53);
        CHECK(survivors[i] != NULL);
        memset(survivors[i], i, (size_t)i * 53);
    }
    return NULL;
}

static void *only_free(void *unused) {
    (void)unused;
    for (int i = 0; i < SURVIVORS; i++) {
        CHECK(is_filled(survivors[i], i, (size_t)i * 53));
        free(survivors[i]);
    }
    return NULL;
}

static void *allocate_until_cancelled(void *unused) {
    (void)unused;
    for (;;) {
        exercise(3);
        pthread_testcancel();
    }
    return NULL;
}

static void at_exit(void) {
    exercise(5);
    void *block = malloc(100000);
    CHECK(block != NULL);
    free(block);
}

__attribute__((destructor)) static void at_unload(void) {
    exercise(6);
}

__attribute__((constructor)) static void before_main(void) {
    exercise(7);
}

int main(void) {
    check_allod_is_malloc();
    CHECK(atexit(at_exit) == 0);
    for (int i = 0; i < KEYS; i++) CHECK(pthread_key_create(&keys[i], destroy) == 0);
    for (int round = 0; round < 200; round++) {
        pthread_t a = start_thread(leave_values_in_keys, NULL);
        pthread_t b = start_thread(leave_blocks_behind, NULL);
        join_thread(a);
        join_thread(b);
        join_thread(start_thread(only_free, NULL));
        exercise(round);
    }
    CHECK(destructor_calls >= 200 * KEYS);
    for (int round = 0; round < 50; round++) {
        pthread_t thread = start_thread(allocate_until_cancelled, NULL);
        exercise(round);
        CHECK(pthread_cancel(thread) == 0);
        join_thread(thread);
    }
    return 0;
}
