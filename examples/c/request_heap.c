/* A heap per request: whatever a request allocates goes in one call when it is answered, and nothing has
 * to be freed block by block. A request that fails halfway is cleaned up in the same way. */
#include <allod/heap.h>
#include <stdio.h>
#include <string.h>

typedef struct word {
    struct word *next;
    char *text;
} word;

/* The words of a text as a list, newest first; null when memory is out. */
static word *split(allod_heap_t *heap, const char *text) {
    word *words = NULL;
    while (*text) {
        size_t length = strcspn(text, " ");
        word *next = allod_heap_malloc(heap, sizeof *next);
        char *copy = allod_heap_calloc(heap, length + 1, 1);
        if (!next || !copy) return NULL;
        memcpy(copy, text, length);
        *next = (word){words, copy};
        words = next;
        text += length;
        text += strspn(text, " ");
    }
    return words;
}

/* Answers a request: its words in reverse. False when memory is out. */
static int answer(const char *request) {
    allod_heap_t *heap = allod_heap_new();
    if (!heap) return 0;
    word *words = split(heap, request);
    for (word *w = words; w; w = w->next) printf("%s%s", w->text, w->next ? " " : "\n");
    allod_heap_destroy(heap); /* the list, its texts, everything */
    return words != NULL;
}

int main(void) {
    const char *requests[] = {"heap own its has request each", "once at goes it"};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        if (!answer(requests[i])) return 1;
    }
    return 0;
}
