// Holds memory of several kinds, says so, and lets go when standard input ends. With `fork`, a child holds
// it and the parent waits; with `small`, there is not much of it.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *hold_small(void *unused) {
    for (int i = 0; i < 10000; i++) *(void *volatile *)malloc(100) = NULL;
    return unused;
}

static void *hold_for_ever(void *unused) {
    hold_small(NULL);
    pause();
    return unused;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    pid_t child = !strcmp(how, "fork") ? fork() : 0;
    if (child) {
        waitpid(child, NULL, 0);
        return 0;
    }
    if (strcmp(how, "small")) {
        char *large = malloc(40 << 20);
        for (size_t i = 0; i < 40 << 20; i += 4096) large[i] = 1;
    }
    pthread_t thread;
    pthread_create(&thread, NULL, hold_for_ever, NULL);
    hold_small(NULL);
    printf("%d\n", getpid());
    fflush(stdout);
    getchar();
    return 0;
}
