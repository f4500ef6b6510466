/* fork in a signal handler at every instruction of malloc, free and their relatives.
 *
 * Promised, as in signal_fork.c: fork returns in parent and child, and the child may allocate and free
 * in the handler, or return from it and run on; no block that was live is handed out again.
 *
 * The processor's trap flag raises SIGTRAP after each instruction. The handler forks where an
 * instruction is reached for the first time, so each case takes every path once.
 *
 * step_fork CASE allocates|returns, the cases being those of the table at the end */
#define _GNU_SOURCE
#include "corner.h"
#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <ucontext.h>

#if !defined(__x86_64__)
int main(void) { skip("the trap flag is x86-64's"); }
#else

enum { MOST = 1024, SEEN = 1 << 16, TRAP_FLAG = 0x100 };
static const double LONG_ENOUGH = 8;

static struct {
    unsigned char *block;
    size_t size;
} live[MOST];
static int live_count;
static uintptr_t seen[SEEN];
static bool child_returns;
static int forks, failures;
static volatile bool in_child;
static bool is_over;
static double end;

static void verify_live(void) {
    for (int i = 0; i < live_count; i++)
        if (live[i].block != NULL) CHECK(is_marked(live[i].block, live[i].size, i & 127));
}

/* Blocks of all sizes, each apart from all others. */
static void allocate_in_child(void) {
    enum { COUNT = 20 };
    unsigned char *blocks[COUNT];
    size_t size = 8;
    for (int i = 0; i < COUNT; i++, size *= 2) {
        if (size > 3 << 20) size = 24;
        blocks[i] = malloc(size);
        CHECK(blocks[i] != NULL);
        mark(blocks[i], size, 0xC0 + i);
    }
    verify_live();
    for (int i = 0; i < COUNT; i++) {
        CHECK(blocks[i][0] == 0xC0 + i);
        free(blocks[i]);
    }
}

/* More than the spare units of a source that was interrupted, at once and by and by, and aligned. */
static void allocate_much_in_child(void) {
    enum { COUNT = 40, SIZE = 2 << 20 };
    void *blocks[COUNT];
    for (int i = 0; i < COUNT; i++) {
        size_t align = (size_t)4096 << i % 10;
        blocks[i] = aligned_alloc(align, 5000);
        CHECK(blocks[i] != NULL && is_aligned(blocks[i], align));
        free(blocks[i]);
    }
    for (int i = 0; i < COUNT; i++) {
        blocks[i] = malloc(SIZE);
        CHECK(blocks[i] != NULL);
        mark(blocks[i], SIZE, i);
    }
    for (int i = 0; i < COUNT; i++) {
        CHECK(is_marked(blocks[i], SIZE, i));
        free(blocks[i]);
    }
}

static bool is_new(uintptr_t instruction) {
    size_t i = (instruction * 0x9E3779B97F4A7C15u) >> 48;
    while (seen[i] != 0 && seen[i] != instruction) i = (i + 1) % SEEN;
    bool new = seen[i] == 0;
    seen[i] = instruction;
    return new;
}

static void say_where(uintptr_t instruction) {
    Dl_info where;
    int known = dladdr((void *)instruction, &where);
    fprintf(stderr, "forked at %s+%#lx\n", known ? where.dli_fname : "",
            instruction - (known ? (uintptr_t)where.dli_fbase : 0));
}

static void on_step(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)info;
    ucontext_t *interrupted = context;
    greg_t *registers = interrupted->uc_mcontext.gregs;
    uintptr_t instruction = (uintptr_t)registers[REG_RIP];
    static unsigned steps;
    if (++steps % 64 == 0) is_over = failures > 0 || seconds() > end;
    if (is_over) registers[REG_EFL] &= ~TRAP_FLAG;
    /* A signal that comes from elsewhere would wait where others are blocked. */
    if (is_over || sigismember(&interrupted->uc_sigmask, SIGUSR1) ||
        !is_new(instruction)) return;
    int saved = errno;
    pid_t child = fork();
    if (child == 0) {
        watchdog(8);
        if (!child_returns) {
            allocate_in_child();
            allocate_much_in_child();
            _exit(0);
        }
        in_child = true;
        registers[REG_EFL] &= ~TRAP_FLAG;
    } else if (child < 0 || !ended_well(child)) {
        say_where(instruction);
        failures++;
    }
    forks++;
    errno = saved;
}

static void start_stepping(void) {
    if (is_over) return;
    __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n orq %0, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp"
                     : : "i"(TRAP_FLAG) : "memory", "cc");
}

/* A child runs on from where it was forked, and ends here. */
static void stop_stepping(void) {
    __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n andq %0, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp"
                     : : "i"(~TRAP_FLAG) : "memory", "cc");
    if (!in_child) return;
    verify_live();
    allocate_in_child();
    while (live_count > 0) free(live[--live_count].block);
    malloc_trim(0);
    allocate_in_child();
    _exit(0);
}

#define STEP(call)        \
    do {                  \
        start_stepping(); \
        call;             \
        stop_stepping();  \
    } while (0)

static void *keep(void *block, size_t size) {
    CHECK(block != NULL && live_count < MOST);
    mark(block, size, live_count & 127);
    live[live_count].block = block;
    live[live_count++].size = size;
    return block;
}

static void *step_malloc(size_t size) {
    void *block;
    STEP(block = malloc(size));
    return block;
}

static void step_free_all(void) {
    for (int i = 0; i < live_count; i++) {
        void *block = live[i].block;
        live[i].block = NULL;
        STEP(free(block));
    }
    live_count = 0;
}

static void first_small(void) { keep(step_malloc(20), 20); }

static void first_large(void) { keep(step_malloc(2000000), 2000000); }

static void blocks(void) {
    static const size_t sizes[] = {24, 1000, 5000, 20000, 100000, 900000, 2000000, 7000000};
    for (int i = 0; i < 8 * 6; i++) keep(step_malloc(sizes[i / 6]), sizes[i / 6]);
    step_free_all();
    for (int i = 0; i < 8 * 6; i++) keep(step_malloc(sizes[i % 8]), sizes[i % 8]);
    step_free_all();
}

static void zeroed_and_aligned(void) {
    static const size_t sizes[] = {40, 3000, 30000, 70000, 2000000};
    for (int i = 0; i < 20; i++) {
        void *block;
        STEP(block = calloc(1, sizes[i % 5]));
        keep(block, sizes[i % 5]);
    }
    for (int i = 0; i < 16; i++) {
        void *volatile block = NULL;
        void *place;
        STEP(place = aligned_alloc((size_t)32 << i, sizes[i % 5]));
        block = place;
        CHECK(is_aligned(block, (size_t)32 << i));
        keep(block, sizes[i % 5]);
    }
    step_free_all();
}

static void resized(void) {
    static const size_t sizes[] = {50,       5000,     90000,  140000, 1100000, 1500000, 3000000,
                                   12000000, 40000000, 900000, 100000, 70,      2000000};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    void *volatile block = NULL;
    for (int i = 0; i < SIZES; i++) {
        void *old = block, *new;
        STEP(new = realloc(old, sizes[i]));
        CHECK(new != NULL && (i == 0 || is_filled(new, 7, 32)));
        memset(new, 7, 32);
        block = new;
    }
    free(block);
}

static void trimmed(void) {
    for (int i = 0; i < 300; i++) keep(malloc(20u << i % 14), 20u << i % 14);
    for (int i = 0; i < 300; i += 2) {
        free(live[i].block);
        live[i].block = NULL;
    }
    STEP(malloc_trim(0));
}

/* Small blocks until slabs come from huge pages. */
static void many_small(void) {
    enum { SIZE = 2048, UNTIL = (5 << 20) / SIZE, FROM = (5 << 19) / SIZE };
    static void *small[UNTIL];
    for (int i = 0; i < UNTIL; i++) {
        void *block;
        if (i < FROM) block = malloc(SIZE);
        else block = step_malloc(SIZE);
        CHECK(block != NULL);
        memset(block, 1, SIZE);
        small[i] = block;
    }
    for (int i = 0; i < UNTIL; i++) free(small[i]);
}

static void *first_and_remote(void *others) {
    void **theirs = others;
    void *volatile own = NULL;
    void *first = step_malloc(100);
    own = first;
    for (int i = 0; i < 200; i++) STEP(free(theirs[i]));
    free(own);
    return NULL;
}

static pthread_key_t key;
static int rounds;

/* Steps from the first round of a thread's destructors to the last, with calls after the heap's own. */
static void destructor(void *value) {
    if (rounds++ == 0) start_stepping();
    free(malloc(100));
    free(malloc(2000000));
    if (rounds == PTHREAD_DESTRUCTOR_ITERATIONS) stop_stepping();
    else pthread_setspecific(key, value);
}

static void *ends(void *unused) {
    free(malloc(100));
    CHECK(pthread_setspecific(key, "value") == 0);
    return unused;
}

static void threads(void) {
    void *theirs[200];
    for (int i = 0; i < 200; i++) theirs[i] = malloc(i < 100 ? 50 : 50000);
    join_thread(start_thread(first_and_remote, theirs));
    CHECK(pthread_key_create(&key, destructor) == 0);
    join_thread(start_thread(ends, NULL));
}

static const struct {
    const char *name;
    void (*run)(void);
    bool from_scratch;
} cases[] = {
    {"first-small", first_small, true}, {"first-large", first_large, true},
    {"blocks", blocks, false},          {"zeroed-and-aligned", zeroed_and_aligned, false},
    {"resized", resized, false},        {"trimmed", trimmed, false},
    {"many-small", many_small, false},  {"threads", threads, false},
};

int main(int count, char **arguments) {
    CHECK(count == 3);
    child_returns = strcmp(arguments[2], "returns") == 0;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_step;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
    watchdog(29);
    end = seconds() + LONG_ENOUGH;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, arguments[1]) != 0) continue;
        if (!cases[i].from_scratch) free(malloc(1));
        cases[i].run();
        printf("%d forks\n", forks);
        CHECK(failures == 0 && forks >= 100);
        return 0;
    }
    CHECK(!"a known case");
}
#endif
