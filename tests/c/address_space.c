/* With little address space, or none to be had any more, malloc fails cleanly and goes on with what
 * there is: a program started under a limit, one that limits itself, a kernel that refuses mmap. */
#define _GNU_SOURCE
#include "threads.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 4000 };

static unsigned char *blocks[MANY];

/* Takes blocks of `size` bytes until refused; returns how many, with errno checked. */
static int take_all(size_t size) {
    int count = 0;
    errno = 0;
    while (count < MANY && (blocks[count] = opaque(malloc(size))) != NULL) {
        blocks[count][0] = (unsigned char)count;
        blocks[count][size - 1] = (unsigned char)count;
        count++;
    }
    CHECK(count == MANY || errno == ENOMEM);
    return count;
}

static void give_back(int count) {
    for (int i = 0; i < count; i++) {
        CHECK(blocks[i][0] == (unsigned char)i);
        free(blocks[i]);
    }
}

static void small_blocks_can_be_used(void) {
    for (int round = 0; round < 3; round++) {
        int count = take_all(500);
        CHECK(count >= 100);
        give_back(count);
    }
}

static void *use_small_blocks(void *unused) {
    (void)unused;
    small_blocks_can_be_used();
    return NULL;
}

static void limit_address_space(rlim_t bytes) {
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

/* As after `ulimit -v 200000`. */
static void start_again_under_a_limit(void) {
    limit_address_space((rlim_t)200000 << 10);
    execl("/proc/self/exe", "address_space", "under_a_limit", (char *)NULL);
    CHECK(0);
}

static void under_a_limit(void) {
    join_thread(start_thread(use_small_blocks, NULL));
    for (int round = 0; round < 3; round++) {
        int count = take_all(1 << 20);
        CHECK(count >= 50 && count < 200);
        give_back(count);
        small_blocks_can_be_used();
    }
    unsigned char *block = opaque(malloc(1000));
    memset(block, 4, 1000);
    errno = 0;
    CHECK(realloc(block, opaque_size((size_t)1 << 30)) == NULL && errno == ENOMEM);
    CHECK(is_filled(block, 4, 1000));
    free(block);
}

static void limits_itself(void) {
    free(opaque(malloc(10)));
    limit_address_space((rlim_t)300 << 20);
    small_blocks_can_be_used();
}

#if defined(__x86_64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* From here on the kernel answers ENOMEM to mmap, mremap, mprotect and brk. */
static void refuse_memory(void) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCHITECTURE, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_brk, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
    };
    struct sock_fprog filter = {.len = sizeof program / sizeof program[0], .filter = program};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

static void refused_by_the_kernel(void) {
    unsigned char *early = opaque(malloc(1000));
    memset(early, 8, 1000);
    refuse_memory();
    for (int round = 0; round < 3; round++) {
        int count = take_all(100000);
        give_back(count);
        count = take_all(100);
        give_back(count);
    }
    errno = 0;
    CHECK(malloc(opaque_size((size_t)1 << 42)) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(realloc(early, opaque_size((size_t)1 << 42)) == NULL && errno == ENOMEM);
    CHECK(is_filled(early, 8, 1000));
    free(early);
}

/* Runs one part in a process of its own. */
static void in_child(void (*part)(void)) {
    pid_t child = fork();
    int status;
    CHECK(child >= 0);
    if (child == 0) {
        part();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

int main(int count, char **arguments) {
    check_allod_is_malloc();
    if (count == 2 && strcmp(arguments[1], "under_a_limit") == 0) {
        under_a_limit();
        return 0;
    }
    in_child(start_again_under_a_limit);
    in_child(limits_itself);
    in_child(refused_by_the_kernel);
    return 0;
}
