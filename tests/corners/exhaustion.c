/* At the limits of address space, mappings and rights.
 *
 * Promised:
 *   gigabytes       20,000 blocks of 1 GiB that nobody touches are there at once, as with glibc.
 *   fill [MIB...]   under ulimit -v, memory that served large blocks serves smaller ones when they
 *                   are freed: at least 80 of 100 of the MiB given for each round, which are what
 *                   glibc has; without numbers it prints them. What fails does so with ENOMEM.
 *   growing         34,000 blocks that realloc grows leave mappings for others: threads start.
 *   no-mprotect     malloc works where mprotect fails with EPERM, from some moment on.
 *   posix_memalign  that fails for want of memory returns ENOMEM and sets errno to it.
 *   limit           RLIMIT_AS lowered by the program itself: malloc goes on, and ends with ENOMEM;
 *   limit-others    threads and mappings of others go on, too;
 *   limit-child     a limit of another process changes nothing in this one. */
#define _GNU_SOURCE
#include "corner.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static const size_t MIB = 1 << 20, GIB = 1 << 30;

static void *work(void *unused) {
    for (size_t size = 1; size < 8 << 20; size = size * 2 + 1) {
        char *block = malloc(size);
        CHECK(block != NULL);
        mark(block, size, 1);
        free(block);
    }
    return unused;
}

static void gigabytes(void) {
    enum { COUNT = 20000 };
    static void *blocks[COUNT];
    for (int i = 0; i < COUNT; i++) {
        blocks[i] = malloc(GIB);
        if (blocks[i] == NULL) fprintf(stderr, "no block %d\n", i);
        CHECK(blocks[i] != NULL);
    }
    *(char *)opaque(blocks[COUNT - 1]) = 1;
    for (int i = 0; i < COUNT; i++) free(blocks[i]);
    join_thread(start_thread(work, NULL));
}

/* Takes blocks of a size until there are no more, and frees them; how many MiB that were. */
static long fill_with(size_t size) {
    void **last = NULL;
    size_t count = 0;
    for (;;) {
        errno = 0;
        void **block = malloc(size);
        if (block == NULL) break;
        *block = last; /* a chain through the blocks */
        last = block;
        count++;
        CHECK(count * size < 4 * GIB); /* these tests run under limits */
    }
    CHECK(errno == ENOMEM);
    while (last != NULL) {
        void **before = *last;
        free(last);
        last = before;
    }
    return (long)(count * size / MIB);
}

static void fill(int count, char **reference) {
    static const size_t sizes[] = {3 << 20, 33000, 60000, 120000, 200000};
    int low = 0;
    for (int i = 0; i < 5; i++) {
        long mib = fill_with(sizes[i]);
        printf("%ld%c", mib, i < 4 ? ' ' : '\n');
        if (i < count && mib * 100 < atol(reference[i]) * 80) low = 1;
    }
    fflush(stdout);
    CHECK(!low);
    CHECK(count == 0 || count == 5);
}

static void growing(void) {
    enum { COUNT = 34000 };
    static int *blocks[COUNT];
    for (int i = 0; i < COUNT; i++) {
        blocks[i] = malloc(1100000);
        CHECK(blocks[i] != NULL);
        *blocks[i] = i;
    }
    for (int i = 0; i < COUNT; i++) {
        blocks[i] = realloc(blocks[i], 2200000);
        CHECK(blocks[i] != NULL && *blocks[i] == i);
    }
    int lines = 0, c;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while ((c = getc(maps)) != EOF) lines += c == '\n';
    fclose(maps);
    printf("%d mappings\n", lines);
    fflush(stdout);
    pthread_t threads[20];
    for (int i = 0; i < 20; i++) threads[i] = start_thread(work, NULL);
    for (int i = 0; i < 20; i++) join_thread(threads[i]);
    for (int i = 0; i < COUNT; i++) free(blocks[i]);
    CHECK(lines < 40000);
}

/* With `only_opening`, mprotect may still take rights away, which the dynamic linker needs. */
static void forbid_mprotect(int only_opening) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, only_opening ? PROT_WRITE : 0xffffffff, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) skip("no filters here");
}

static void use_300_mb(void) {
    static void *blocks[300], *small[100000];
    for (int i = 0; i < 300; i++) {
        blocks[i] = malloc(MIB);
        CHECK(blocks[i] != NULL);
        mark(blocks[i], MIB, i);
    }
    for (int i = 0; i < 100000; i++) {
        small[i] = malloc(100);
        CHECK(small[i] != NULL);
        mark(small[i], 100, i);
    }
    for (int i = 0; i < 300; i++) CHECK(is_marked(blocks[i], MIB, i));
    for (int i = 0; i < 300; i++) free(blocks[i]);
    for (int i = 0; i < 100000; i++) CHECK(is_marked(small[i], 100, i));
    for (int i = 0; i < 100000; i++) free(small[i]);
}

static void posix_memalign_fails(void) {
    static const size_t sizes[] = {(size_t)PTRDIFF_MAX - 4096, (size_t)1 << 62, (size_t)1 << 47};
    for (int i = 0; i < 3; i++) {
        void *out = &out;
        errno = 0;
        CHECK(posix_memalign(&out, 64, opaque_size(sizes[i])) == ENOMEM);
        CHECK(errno == ENOMEM);
        CHECK(out == &out);
    }
}

static void lower_limit(void) {
    free(malloc(1000));
    struct rlimit limit = {GIB, GIB};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

static void limit(void) {
    lower_limit();
    work(NULL);
    use_300_mb();
    CHECK(fill_with(10 << 20) >= 300);
    CHECK(fill_with(10 << 20) <= 1024);
    use_300_mb();
}

static void limit_of_child(void) {
    struct rlimit limit = {GIB, GIB}, got = {0, 0};
    free(opaque(malloc(100)));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        pause();
        _exit(1);
    }
    long before = status_kib("VmSize:");
    CHECK(prlimit(child, RLIMIT_AS, &limit, NULL) == 0);
    CHECK(prlimit(child, RLIMIT_AS, NULL, &got) == 0 && got.rlim_cur == GIB);
    CHECK(status_kib("VmSize:") > before - before / 8);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    /* A limit of its own, by its own number, does. */
    CHECK(prlimit(getpid(), RLIMIT_AS, &limit, NULL) == 0);
    CHECK(status_kib("VmSize:") <= (long)(GIB >> 10));
    free(opaque(malloc(10000000)));
}

static void limit_of_others(void) {
    lower_limit();
    use_300_mb();
    void *other = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(other != MAP_FAILED);
    join_thread(start_thread(work, NULL));
}

int main(int count, char **arguments) {
    CHECK(count >= 2);
    const char *what = arguments[1];
    watchdog(20);
    if (strcmp(what, "gigabytes") == 0) gigabytes();
    else if (strcmp(what, "fill") == 0) fill(count - 2, arguments + 2);
    else if (strcmp(what, "growing") == 0) growing();
    else if (strcmp(what, "no-mprotect") == 0) {
        free(malloc(100));
        forbid_mprotect(0);
        use_300_mb();
        work(NULL);
    } else if (strcmp(what, "no-mprotect-exec") == 0) { /* for the program that follows */
        forbid_mprotect(1);
        execvp(arguments[2], arguments + 2);
        return 3;
    } else if (strcmp(what, "use") == 0) use_300_mb();
    else if (strcmp(what, "posix_memalign") == 0) posix_memalign_fails();
    else if (strcmp(what, "limit") == 0) limit();
    else if (strcmp(what, "limit-others") == 0) limit_of_others();
    else if (strcmp(what, "limit-child") == 0) limit_of_child();
    else return 2;
    return 0;
}
