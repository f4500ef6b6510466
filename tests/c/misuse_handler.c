/* A program's own handler is told of misuse and goes on. modes: shared archive static */
#define _GNU_SOURCE
#include "check.h"
#include <allod/heap.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

static const void *told_of;
static char words[512];
static jmp_buf way_out;

static void note(const char *text, const void *pointer) {
    void *block = malloc(100); /* a handler may allocate */
    CHECK(block != NULL);
    free(block);
    strncpy(words, text, sizeof words - 1);
    told_of = pointer;
}

static void leave(const char *text, const void *pointer) {
    note(text, pointer);
    longjmp(way_out, 1);
}

int main(void) {
    static char not_a_block[64];
    void *pointer = not_a_block;
    __asm__ volatile("" : "+r"(pointer));

    allod_set_misuse_handler(note);
    free(pointer);
    CHECK(told_of == pointer && strstr(words, "not a pointer from this heap") != NULL);

    told_of = NULL;
    allod_set_misuse_handler(leave);
    if (setjmp(way_out) == 0) {
        free(pointer);
        CHECK(!"the handler has left");
    }
    CHECK(told_of == pointer);

    allod_set_misuse_handler(NULL);
    return 0;
}
