/* A program with handlers of SIGSEGV of its own, while blocks are guarded. What is its own must reach it, and what is
 * Allod's must be reported first. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf out;
static volatile sig_atomic_t caught;
static struct sigaction before;

static void leave(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info, (void)context;
    caught++;
    siglongjmp(out, 1);
}

static void plain(int signal) {
    (void)signal;
    caught++;
    siglongjmp(out, 1);
}

/* Passes on to what was there before, as crash reporters do. */
static void passes_on(int signal, siginfo_t *info, void *context) {
    caught++;
    if (caught > 3) {
        static const char words[] = "in a circle\n";
        if (write(1, words, sizeof words - 1) < 0) _exit(4);
        _exit(3);
    }
    if (before.sa_flags & SA_SIGINFO) before.sa_sigaction(signal, info, context);
    else if (before.sa_handler != SIG_DFL) before.sa_handler(signal);
    else sigaction(signal, &before, NULL);
}

/* Called once, as crash reporters ask for: when the access is made again, the system ends the program. */
static void last_words(int signal) {
    (void)signal;
    static const char words[] = "last words\n";
    if (write(1, words, sizeof words - 1) < 0 || ++caught > 1) _exit(3);
}

static void install(void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &action, &before);
}

__attribute__((noinline)) static int look_at(volatile char *at) { return *at; }

static char *block(void) {
    char *volatile fresh = malloc(64);
    return fresh;
}

static void *allocates(void *nothing) {
    for (;;) free(block());
    return nothing;
}

/* In a child with a handler of its own, Allod's is put in front with the next guarded block, whatever other threads were
 * doing when the process forked. */
static int children_without(void) {
    int without = 0;
    pthread_t thread;
    for (int i = 0; i < 3; i++) pthread_create(&thread, NULL, allocates, NULL);
    for (int i = 0; i < 400; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            install(leave);
            free(block());
            struct sigaction now;
            sigaction(SIGSEGV, NULL, &now);
            _exit(now.sa_sigaction == leave);
        }
        waitpid(child, &status, 0);
        without += status != 0;
    }
    printf("%d of 400\n", without);
    return without != 0;
}

int main(int count, char **words) {
    const char *kind = count > 1 ? words[1] : "";
    char *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    free(block());
    if (strcmp(kind, "own-faults") == 0) {
        /* A thousand probes of its own, each answered by its own handler, which jumps out. */
        install(leave);
        for (volatile int i = 0; i < 1000; i++) {
            free(block());
            if (sigsetjmp(out, 1) == 0) look_at(hole);
        }
        signal(SIGSEGV, plain);
        for (volatile int i = 0; i < 1000; i++) {
            free(block());
            if (sigsetjmp(out, 1) == 0) look_at(hole);
        }
        printf("%d of 2000\n", (int)caught);
        return caught == 2000 ? 0 : 1;
    }
    if (strcmp(kind, "forks") == 0) return children_without();
    if (strcmp(kind, "sent") == 0) {
        install(leave);
        free(block());
        if (sigsetjmp(out, 1) == 0) raise(SIGSEGV);
        return caught == 1 ? 0 : 1;
    }
    if (strcmp(kind, "ignored") == 0) {
        signal(SIGSEGV, SIG_IGN);
        free(block());
        raise(SIGSEGV);
        puts("ignored");
        return 0;
    }
    if (strcmp(kind, "stack") == 0) {
        /* On a small stack of its own. */
        stack_t stack = {.ss_sp = malloc(SIGSTKSZ), .ss_size = SIGSTKSZ};
        sigaltstack(&stack, NULL);
        install(leave);
        char *stale = block();
        free(stale);
        if (sigsetjmp(out, 1) == 0) look_at(stale);
        return caught == 1 ? 0 : 1;
    }
    if (strcmp(kind, "passes-on") == 0) {
        install(passes_on);
        free(block());
        look_at(hole);
        return 2;
    }
    if (strcmp(kind, "once") == 0) {
        struct sigaction action = {.sa_handler = last_words, .sa_flags = SA_RESETHAND};
        sigaction(SIGSEGV, &action, NULL);
        free(block());
        look_at(hole);
        return 2;
    }
    /* Its own handler runs after the report, and ends as it likes. */
    install(leave);
    char *stale = block();
    free(stale);
    if (sigsetjmp(out, 1) == 0) look_at(stale);
    printf("caught %d\n", (int)caught);
    return 0;
}
