/* The system calls of the helper thread that gives memory back, in a program that did not ask for it.
 *
 * Promised: it takes no file descriptor while the first thread of the program lives, and under a filter of
 * system calls that the program has set for all its threads at once, by a system call of its own, it makes
 * none but those that every program with threads makes (futex, madvise, munmap, exit) and asks
 * prctl(PR_GET_SECCOMP).
 *
 * quiet filter | descriptors */
#define _GNU_SOURCE
#include "corner.h"
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { MIB = 1 << 20, SMALL = 2000 };
/* The helper looks round every five seconds while it sleeps. */
enum { LONG_MS = 6500 };

static atomic_int opened;

/* Stands before the C library's. */
int open(const char *path, int flags, ...) {
    atomic_fetch_add(&opened, 1);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags);
}

static void *free_one(void *blocks) {
    free(((void **)blocks)[0]);
    sleep_ms(LONG_MS);
    return NULL;
}

/* Memory in use, so that there is a helper, and a thread with a parcel of another's blocks. */
static pthread_t have_a_helper(void) {
    static void *blocks[SMALL];
    void *kept = malloc(20 * MIB);
    CHECK(kept != NULL);
    touch(kept, 20 * MIB, 1);
    for (int i = 0; i < SMALL; i++) {
        blocks[i] = malloc(3000);
        CHECK(blocks[i] != NULL);
    }
    return start_thread(free_one, blocks);
}

static void kill_what_is_unusual(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    /* Past malloc, which hears of what goes through prctl. */
    CHECK(syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        skip("no filters here");
}

static void under_a_filter(void) {
    pthread_t thread = have_a_helper();
    kill_what_is_unusual();
    join_thread(thread);
}

static void without_descriptors(void) {
    pthread_t thread = have_a_helper();
    /* The first allocation of all asks the system about its memory. */
    atomic_store(&opened, 0);
    join_thread(thread);
    CHECK(atomic_load(&opened) == 0);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    watchdog(15);
    if (strcmp(arguments[1], "filter") == 0) under_a_filter();
    else if (strcmp(arguments[1], "descriptors") == 0) without_descriptors();
    else return 2;
    return 0;
}
