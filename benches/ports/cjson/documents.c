/* Reads texts of JSON, prints each again and is done with it, as a server does with requests: documents ROUNDS FILE...
 * Prints nanoseconds=, for one document, and a checksum. With -DON_FRAMES each document has a frame. */
#include "cJSON.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *read_file(const char *name) {
    FILE *file = fopen(name, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        return perror(name), exit(1), NULL;
    size_t length = (size_t)ftell(file);
    char *text = malloc(length + 1);
    rewind(file);
    text[fread(text, 1, length, file)] = '\0';
    fclose(file);
    return text;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The length of a document that was read and printed; 0 for one that is no JSON. */
static size_t document(const char *text) {
    cJSON *read = cJSON_Parse(text);
    if (!read)
        return 0;
    char *printed = cJSON_Print(read);
    size_t length = strlen(printed);
    cJSON_free(printed);
    cJSON_Delete(read);
    return length;
}

int main(int count, char **arguments) {
    if (count < 3)
        return fprintf(stderr, "usage: documents ROUNDS FILE...\n"), 2;
    long rounds = strtol(arguments[1], NULL, 10);
    int files = count - 2;
    char **texts = malloc((size_t)files * sizeof *texts);
    for (int i = 0; i < files; i++)
        texts[i] = read_file(arguments[i + 2]);
#ifdef ON_FRAMES
    allod_arena *arena = allod_arena_create();
#endif
    size_t sum = 0;
    double start = now();
    for (long round = 0; round < rounds; round++) {
        for (int i = 0; i < files; i++) {
#ifdef ON_FRAMES
            allod_frame frame = allod_frame_begin(arena);
            cJSON_UseFrame(&frame);
#endif
            sum = sum * 31 + document(texts[i]);
#ifdef ON_FRAMES
            cJSON_UseFrame(NULL);
            allod_frame_end(&frame);
#endif
        }
    }
    double end = now();
#ifdef ON_FRAMES
    allod_arena_destroy(arena);
#endif
    for (int i = 0; i < files; i++)
        free(texts[i]);
    free(texts);
    fprintf(stderr, "checksum %zu\n", sum);
    printf("nanoseconds=%.1f\n", (end - start) / (double)(rounds * files));
    return 0;
}
