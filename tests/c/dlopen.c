/* Libraries that allocate when loaded, hand out blocks, and are unloaded; modes: preload shared */
#define _GNU_SOURCE
#include "threads.h"
#include <unistd.h>

/* The library is made by the test itself: it needs a compiler, and the shell names one. */
static const char source[] =
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "static char *kept;\n"
    "static __thread char *of_thread;\n"
    "__attribute__((constructor)) static void load(void) { kept = strdup(\"kept\"); }\n"
    "__attribute__((destructor)) static void unload(void) { free(kept); }\n"
    "void *library_make(size_t size) { free(of_thread); of_thread = malloc(10); return calloc(1, size); }\n"
    "void library_take(void *block) { free(block); free(of_thread); of_thread = NULL; }\n";

static char library[64];

static void build_library(void) {
    char command[256];
    snprintf(library, sizeof library, "/tmp/allod-dlopen-%d.so", (int)getpid());
    snprintf(command, sizeof command, "cc -shared -fPIC -x c - -o %s", library);
    FILE *compiler = popen(command, "w");
    CHECK(compiler != NULL);
    fputs(source, compiler);
    CHECK(pclose(compiler) == 0);
}

static void *use_library(void *unused) {
    (void)unused;
    for (int round = 0; round < 50; round++) {
        void *(*make)(size_t);
        void (*take)(void *);
        void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        CHECK(handle != NULL);
        *(void **)&make = dlsym(handle, "library_make");
        *(void **)&take = dlsym(handle, "library_take");
        CHECK(make != NULL && take != NULL);
        void *outlives = make(500);
        for (size_t i = 0; i < 200; i++) {
            void *block = make(i * 40);
            CHECK(block != NULL && is_filled(block, 0, i * 40));
            if (i % 2)
                free(block);
            else
                take(block);
        }
        take(malloc(30));
        CHECK(dlclose(handle) == 0);
        CHECK(is_filled(outlives, 0, 500));
        free(outlives);
    }
    return NULL;
}

int main(void) {
    check_allod_is_malloc();
    build_library();
    use_library(NULL);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) threads[i] = start_thread(use_library, NULL);
    for (int i = 0; i < 4; i++) join_thread(threads[i]);
    CHECK(unlink(library) == 0);
    return 0;
}
