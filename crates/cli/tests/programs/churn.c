// Two thousand threads, one after the other, each with a few blocks.
#include <pthread.h>
#include <stdlib.h>

static void *live(void *unused) {
    (void)unused;
    void *volatile blocks[10];
    for (int i = 0; i < 10; i++) blocks[i] = malloc(77);
    for (int i = 0; i < 10; i++) free(blocks[i]);
    return NULL;
}

int main(void) {
    for (int i = 0; i < 2000; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, live, NULL)) return 1;
        pthread_join(thread, NULL);
    }
}
