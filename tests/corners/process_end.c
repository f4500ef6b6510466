/* Ends of programs, and processes that the C library did not make, while memory waits to be given
 * back, which a helper thread of malloc's may do.
 *
 * Promised:
 *   pthread_exit used | freed
 *                 when main has called pthread_exit and the last thread of the program ends, the
 *                 process ends with status 0 within 10 seconds, whether memory is still in use or
 *                 was just freed.
 *   children      children of fork, vfork and a bare clone may call prctl and unshare, and end.
 *   unshare       calls of unshare between frees take no time to speak of.
 *   refused       where the system refuses threads, malloc goes on, leaves errno alone, and does not
 *                 ask for a thread more than once in a second.
 *   starting      prctl returns while a thread of malloc's is being started. */
#define _GNU_SOURCE
#include "corner.h"
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { MIB = 1 << 20, COUNT = 40 };

static atomic_int asked, refusing, slow;

/* Stands before the C library's: threads with attributes, which are malloc's own here, are refused
 * on demand. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument) {
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (attributes != NULL && atomic_load(&refusing)) {
        atomic_fetch_add(&asked, 1);
        if (atomic_load(&slow)) sleep_ms(300);
        errno = EAGAIN;
        return EAGAIN;
    }
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    CHECK(found != NULL);
    memcpy(&real, &found, sizeof found);
    return real(thread, attributes, run, argument);
}

static void *blocks[COUNT];

static void take_40_mb(void) {
    for (int i = 0; i < COUNT; i++) {
        blocks[i] = malloc(MIB);
        CHECK(blocks[i] != NULL);
        touch(blocks[i], MIB, 1);
    }
}

static void free_40_mb(void) {
    take_40_mb();
    for (int i = 0; i < COUNT; i++) free(blocks[i]);
}

static void *last_thread(void *unused) {
    sleep_ms(300);
    printf("the last thread ends\n");
    fflush(stdout);
    return unused;
}

_Noreturn static void exit_from_main(int freed) {
    if (freed) free_40_mb();
    else take_40_mb();
    CHECK(pthread_detach(start_thread(last_thread, NULL)) == 0);
    pthread_exit(NULL);
}

/* In a child, which may share all memory with its parent. */
_Noreturn static void ask_and_end(int unsharing) {
    alarm(4);
    _exit(unsharing ? unshare(CLONE_FILES) != 0 : prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0);
}

static void children(void) {
    free_40_mb();
    sleep_ms(300);
    for (int unsharing = 0; unsharing < 2; unsharing++) {
        pid_t child = fork();
        if (child == 0) ask_and_end(unsharing);
        CHECK(child > 0 && ended_well(child));
        child = vfork();
        if (child == 0) ask_and_end(unsharing);
        CHECK(child > 0 && ended_well(child));
        child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0) ask_and_end(unsharing);
        CHECK(child > 0 && ended_well(child));
    }
    free_40_mb();
}

static void unshare_often(void) {
    enum { CALLS = 20 };
    double sum = 0;
    free_40_mb();
    for (int i = 0; i < CALLS; i++) {
        void *block = malloc(3 * MIB);
        CHECK(block != NULL);
        touch(block, 3 * MIB, 1);
        free(block);
        double start = seconds();
        CHECK(unshare(0) == 0);
        sum += seconds() - start;
    }
    printf("%.2f ms each\n", sum * 1000 / CALLS);
    fflush(stdout);
    CHECK(sum < 0.4);
}

static void refused(void) {
    atomic_store(&refusing, 1);
    double start = seconds();
    errno = 0;
    for (int i = 0; i < 10; i++) {
        free_40_mb();
        for (int j = 0; j < 20000; j++) CHECK(opaque(malloc(64)) != NULL);
    }
    CHECK(errno == 0);
    double end = seconds();
    printf("asked %d times in %.2f s\n", atomic_load(&asked), end - start);
    fflush(stdout);
    CHECK(atomic_load(&asked) <= 2 + (int)(end - start));
}

static void *forbid_privileges(void *unused) {
    while (atomic_load(&asked) == 0 && atomic_load(&slow)) sleep_ms(1);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    return unused;
}

static void starting(void) {
    atomic_store(&refusing, 1);
    atomic_store(&slow, 1);
    pthread_t thread = start_thread(forbid_privileges, NULL);
    free_40_mb();
    atomic_store(&slow, 0);
    join_thread(thread);
    free_40_mb();
}

int main(int count, char **arguments) {
    CHECK(count >= 2);
    const char *what = arguments[1];
    watchdog(10);
    if (strcmp(what, "pthread_exit") == 0)
        exit_from_main(count > 2 && strcmp(arguments[2], "freed") == 0);
    else if (strcmp(what, "children") == 0) children();
    else if (strcmp(what, "unshare") == 0) unshare_often();
    else if (strcmp(what, "refused") == 0) refused();
    else if (strcmp(what, "starting") == 0) starting();
    else return 2;
    return 0;
}
