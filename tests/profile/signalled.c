/* Profiles at a signal under unusual circumstances. The setting ALLOD_PROFILE asks for them, with each block a sample, in a
 * file whose name is the second argument and the number of the process. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *file;
static volatile sig_atomic_t goes, went_on;

static const char *profile(int number) {
    static char path[4096];
    snprintf(path, sizeof path, "%s.%d.%d", file, (int)getpid(), number);
    return path;
}

static void pause_ms(long millis) {
    struct timespec time = {millis / 1000, millis % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* True when the profile is there within five seconds. */
static int is_written(int number) {
    struct stat found;
    for (int i = 0; i < 500; i++, pause_ms(10))
        if (stat(profile(number), &found) == 0 && found.st_size > 0) return 1;
    return 0;
}

static void takes(int blocks) {
    for (int i = 0; i < blocks; i++) {
        char *volatile block = malloc(100);
        free(block);
    }
}

static void *is_signalled(void *nothing) {
    raise(SIGUSR2);
    return nothing;
}

/* Has a thread write the first profile into a pipe that nobody reads yet. */
static pthread_t writes_slowly(void) {
    pthread_t thread;
    if (mkfifo(profile(1), 0600) != 0) _exit(3);
    pthread_create(&thread, NULL, is_signalled, NULL);
    pause_ms(200);
    return thread;
}

static void read_pipe(pthread_t writer) {
    char part[4096];
    int in = open(profile(1), O_RDONLY);
    while (read(in, part, sizeof part) > 0) {}
    close(in);
    pthread_join(writer, NULL);
}

/* While one profile waits for its reader another is asked for: the program goes on, and has both in the end. */
static int slow(void) {
    pthread_t writer = writes_slowly();
    raise(SIGUSR2);
    time_t start = time(NULL);
    takes(20);
    if (time(NULL) - start > 5) return 4;
    read_pipe(writer);
    takes(1);
    return is_written(2) ? 0 : 5;
}

/* A child writes its own first profile. */
static int child_writes(void) {
    pid_t child = fork();
    if (child == 0) {
        raise(SIGUSR2);
        _exit(is_written(1) ? 0 : 6);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 7;
}

/* A child that is forked while its parent writes a profile writes its own. */
static int forked(void) {
    pthread_t writer = writes_slowly();
    int result = child_writes();
    read_pipe(writer);
    return result;
}

/* Writes behind the page of a guarded block while a profile waits for its reader: that is reported. */
static int reported(void) {
    writes_slowly();
    volatile char *block = malloc(16);
    block[4096] = 1;
    return 9;
}

/* A profile that was asked for while another was written, into a pipe, keeps no thread waiting that allocates: it is written
 * once there is a reader. */
static int unread(void) {
    pthread_t writer = writes_slowly();
    if (mkfifo(profile(2), 0600) != 0) return 3;
    raise(SIGUSR2);
    read_pipe(writer);
    time_t start = time(NULL);
    takes(20);
    if (time(NULL) - start > 5) return 4;
    unsigned char head[2];
    int in = open(profile(2), O_RDONLY | O_NONBLOCK);
    takes(1);
    return read(in, head, 2) == 2 && head[0] == 0x1F && head[1] == 0x8B ? 0 : 5;
}

/* The reader of a pipe that goes before it has all ends the profile, and not the program. */
static int left(void) {
    if (mkfifo(profile(1), 0600) != 0) return 3;
    int reader = open(profile(1), O_RDWR | O_NONBLOCK);
    char part[4096] = {0};
    while (write(reader, part, sizeof part) > 0) {}
    pthread_t thread;
    pthread_create(&thread, NULL, is_signalled, NULL);
    pause_ms(200);
    close(reader);
    pthread_join(thread, NULL);
    raise(SIGUSR2);
    return is_written(2) ? 0 : 4;
}

/* A child counts its own profiles. */
static int counts(void) {
    raise(SIGUSR2);
    return is_written(1) ? child_writes() : 3;
}

static void *computes(void *nothing) {
    while (!goes) {}
    went_on = 1;
    pthread_testcancel();
    return nothing;
}

/* A thread that is to end at its next cancellation point does not end in the handler. */
static int cancelled(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, computes, NULL);
    pthread_cancel(thread);
    pthread_kill(thread, SIGUSR2);
    int written = is_written(1);
    goes = 1;
    pthread_join(thread, NULL);
    return written && went_on ? 0 : 8;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    file = words[2];
    takes(100);
    if (strcmp(words[1], "slow") == 0) return slow();
    if (strcmp(words[1], "unread") == 0) return unread();
    if (strcmp(words[1], "left") == 0) return left();
    if (strcmp(words[1], "counts") == 0) return counts();
    if (strcmp(words[1], "forked") == 0) return forked();
    if (strcmp(words[1], "reported") == 0) return reported();
    if (strcmp(words[1], "cancelled") == 0) return cancelled();
    return 2;
}
