/* A library whose constructor registers handlers of fork that allocate; it is preloaded before
 * Allod or after it, so that its constructor comes after Allod's or before it. */
#define _GNU_SOURCE
#include "handlers.h"

__attribute__((constructor)) static void load(void) {
    CHECK(pthread_atfork(handler, handler, handler) == 0);
}
