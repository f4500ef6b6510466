// A thousand blocks of 777 bytes, and then an end of the kind that was asked for.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void allocate(int count, size_t size) {
    for (int i = 0; i < count; i++) {
        void *volatile block = malloc(size);
        free(i % 2 ? block : NULL);
    }
}

int main(int argc, char **argv) {
    const char *end = argc > 1 ? argv[1] : "return";
    if (!strcmp(end, "close"))
        for (int fd = 3; fd < 1024; fd++) close(fd);
    allocate(1000, 777);
    if (!strcmp(end, "crash")) raise(SIGSEGV);
    if (!strcmp(end, "abort")) abort();
    if (!strcmp(end, "kill")) raise(SIGKILL);
    if (!strcmp(end, "_exit")) _exit(3);
    if (!strcmp(end, "exec")) execl(argv[0], argv[0], "return", NULL);
    if (!strcmp(end, "much")) allocate(3000000, 555);
    if (!strcmp(end, "fork")) {
        pid_t child = fork();
        if (child == 0) {
            allocate(500, 333);
            return 0;
        }
        int status;
        waitpid(child, &status, 0);
        allocate(10, 222);
        printf("%d\n", child);
    }
    return 0;
}
