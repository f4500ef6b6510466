/* fork in a signal handler that interrupted malloc or free.
 *
 * Promised: fork returns in parent and child, wherever the signal came; the child may allocate and
 * free blocks of all sizes in the handler, and may return from it and run on; no block that was
 * live is handed out again. With threads, too. (glibc promises less: fork itself only while the
 * program has one thread, and nothing of malloc in the child.)
 *
 * signal_fork timer MICROSECONDS FORKS exits|allocates|returns
 * signal_fork threads COUNT FORKS exits|allocates|returns
 * signal_fork opening MICROSECONDS FORKS returns
 *     the program takes fresh memory only, while another thread goes through all heaps: the signal
 *     comes where no lock is held, and in the child the heap may be that thread's */
#define _GNU_SOURCE
#include "corner.h"
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { SLOTS = 64, CHILD_STEPS = 3000, MAX_THREADS = 16 };

struct slot {
    unsigned char *block;
    size_t size;
    int byte;
};

struct work {
    struct slot slots[SLOTS];
    uint64_t random;
    volatile int current; /* the slot that is being changed */
    volatile int steps_left;
};

static _Thread_local struct work work;
static enum { EXITS, ALLOCATES, RETURNS } child_does;
static atomic_int forks, failures;
static atomic_bool stop;
static timer_t timer;
static long microseconds;

static size_t some_size(uint64_t *random) {
    size_t n = next_random(random);
    switch (n % 16) {
        case 0: return 8 + next_random(random) % (3 << 20);
        case 1: case 2: return 8 + next_random(random) % 200000;
        case 3: case 4: case 5: return 8 + next_random(random) % 20000;
        default: return 8 + next_random(random) % 1024;
    }
}

static void verify_others(void) {
    for (int i = 0; i < SLOTS; i++) {
        const struct slot *s = &work.slots[i];
        if (i != work.current && s->block != NULL) CHECK(is_marked(s->block, s->size, s->byte));
    }
}

static void step(void) {
    int i = (int)(next_random(&work.random) % SLOTS);
    struct slot *s = &work.slots[i];
    if (s->block != NULL) CHECK(is_marked(s->block, s->size, s->byte));
    work.current = i;
    atomic_signal_fence(memory_order_seq_cst);
    free(s->block);
    s->size = some_size(&work.random);
    s->block = malloc(s->size);
    CHECK(s->block != NULL);
    s->byte = (int)(next_random(&work.random) & 255);
    mark(s->block, s->size, s->byte);
    atomic_signal_fence(memory_order_seq_cst);
    work.current = -1;
}

/* In the handler of the child: blocks of all sizes, each apart from all others. */
static void allocate_in_child(void) {
    enum { COUNT = 48 };
    unsigned char *blocks[COUNT];
    size_t sizes[COUNT];
    for (int round = 0; round < 2; round++) {
        size_t size = 8;
        for (int i = 0; i < COUNT; i++) {
            sizes[i] = size;
            blocks[i] = malloc(size);
            CHECK(blocks[i] != NULL);
            mark(blocks[i], size, 0xC0 + i % 16);
            size = size + size / 3 + 8;
            if (size > 3 << 20) size = 24;
        }
        for (int i = 0; i < COUNT; i++)
            CHECK(is_marked(blocks[i], sizes[i], 0xC0 + i % 16));
        verify_others();
        for (int i = 0; i < COUNT; i++) free(blocks[i]);
    }
}

static void arm(void) {
    struct itimerspec once = {{0, 0}, {microseconds / 1000000, microseconds % 1000000 * 1000}};
    timer_settime(timer, 0, &once, NULL);
}

static void on_signal(int number) {
    (void)number;
    int saved = errno;
    pid_t child = fork();
    if (child == 0) {
        watchdog(8);
        if (child_does == ALLOCATES) allocate_in_child();
        if (child_does != RETURNS) _exit(0);
        work.steps_left = CHILD_STEPS;
        return;
    }
    if (child < 0 || !ended_well(child)) atomic_fetch_add(&failures, 1);
    atomic_fetch_add(&forks, 1);
    if (microseconds > 0) arm(); /* only now, so that the program gets on */
    errno = saved;
}

static void free_all(void) {
    for (int i = 0; i < SLOTS; i++) free(work.slots[i].block);
}

/* Takes fresh memory, as a step of the program does in which no memory is free. */
static void open_memory(void) {
    /* Nobody frees it: it is not touched, and costs addresses only. */
    void *volatile block = malloc(60000);
    CHECK(block != NULL);
}

static void (*do_step)(void) = step;

/* A step of the program; in a child that came from the handler the last one ends it. */
static void step_or_end(void) {
    do_step();
    if (work.steps_left > 0 && --work.steps_left == 0) {
        verify_others();
        free_all();
        _exit(0);
    }
}

static void *worker(void *seed) {
    work.random = (uintptr_t)seed;
    work.current = -1;
    while (!atomic_load(&stop)) step_or_end();
    free_all();
    return NULL;
}

static int wanted;

static void with_timer(void) {
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    work.random = 1;
    work.current = -1;
    arm();
    double end = seconds() + 9;
    while (atomic_load(&forks) < wanted && atomic_load(&failures) == 0 && seconds() < end) {
        for (int i = 0; i < 100; i++) step_or_end();
    }
}

static void *trim(void *unused) {
    sigset_t all;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
    while (!atomic_load(&stop)) malloc_trim(0);
    return unused;
}

static void while_opening(void) {
    pthread_t trimmer = start_thread(trim, NULL);
    do_step = open_memory;
    with_timer();
    atomic_store(&stop, true);
    join_thread(trimmer);
}

static void with_threads(int count) {
    pthread_t threads[MAX_THREADS];
    uint64_t random = 7;
    double end = seconds() + 9;
    CHECK(count <= MAX_THREADS);
    for (int i = 0; i < count; i++)
        threads[i] = start_thread(worker, (void *)(uintptr_t)(i + 1));
    sleep_ms(5);
    for (int sent = 0; sent < wanted && atomic_load(&failures) == 0 && seconds() < end; sent++) {
        CHECK(pthread_kill(threads[next_random(&random) % (size_t)count], SIGUSR1) == 0);
        while (sent - atomic_load(&forks) >= 2 && atomic_load(&failures) == 0) usleep(20);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < count; i++) join_thread(threads[i]);
}

int main(int count, char **arguments) {
    CHECK(count == 5);
    wanted = atoi(arguments[3]);
    child_does = strcmp(arguments[4], "exits") == 0       ? EXITS
                 : strcmp(arguments[4], "allocates") == 0 ? ALLOCATES
                                                          : RETURNS;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    watchdog(15);
    if (strcmp(arguments[1], "timer") == 0) {
        microseconds = atol(arguments[2]);
        with_timer();
    } else if (strcmp(arguments[1], "opening") == 0) {
        microseconds = atol(arguments[2]);
        while_opening();
    } else {
        with_threads(atoi(arguments[2]));
    }
    printf("%d forks\n", atomic_load(&forks));
    CHECK(atomic_load(&failures) == 0);
    CHECK(atomic_load(&forks) >= 100);
    return 0;
}
