/* Functions of the C library that allocate for the caller hand out Allod's blocks. */
#define _GNU_SOURCE
#include "check.h"
#include <malloc.h>
#include <stdarg.h>
#include <unistd.h>
#include <wchar.h>

static void string_functions_give_blocks_that_free_takes(void) {
    char *text = strdup("allod");
    CHECK(text != NULL && strcmp(text, "allod") == 0 && malloc_usable_size(text) >= 6);
    text = realloc(text, 1000);
    CHECK(text != NULL && strcmp(text, "allod") == 0);
    free(text);
    text = strndup("allodial", 5);
    CHECK(text != NULL && strcmp(text, "allod") == 0);
    free(text);
    wchar_t *wide = wcsdup(L"allod");
    CHECK(wide != NULL && wcscmp(wide, L"allod") == 0);
    free(wide);
    CHECK(asprintf(&text, "%0*d", 5000, 7) == 5000 && strlen(text) == 5000);
    free(text);
    text = realpath("/", NULL);
    CHECK(text != NULL && strcmp(text, "/") == 0);
    free(text);
    text = getcwd(NULL, 0);
    CHECK(text != NULL && text[0] == '/');
    free(text);
}

static void streams_in_memory_and_long_lines_work(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CHECK(out != NULL);
    for (int i = 0; i < 100000; i++) fprintf(out, "%d,", i);
    fputc('\n', out);
    CHECK(fclose(out) == 0 && size == strlen(text));
    FILE *in = fmemopen(text, size, "r");
    char *line = NULL;
    size_t capacity = 0;
    CHECK(in != NULL && getline(&line, &capacity, in) == (ssize_t)size);
    CHECK(strcmp(line, text) == 0 && malloc_usable_size(line) >= capacity);
    fclose(in);
    free(line);
    free(text);
}

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

static void qsort_of_many_elements_works(void) {
    int *numbers = malloc(300000 * sizeof *numbers);
    CHECK(numbers != NULL);
    for (int i = 0; i < 300000; i++) numbers[i] = (int)((i * 7919L) % 300000);
    qsort(numbers, 300000, sizeof *numbers, compare);
    for (int i = 0; i < 300000; i++) CHECK(numbers[i] == i);
    free(numbers);
}

static void environment_may_be_changed(void) {
    char name[32];
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "TEST_%d", i % 300);
        CHECK(setenv(name, "a value long enough to need a block", 1) == 0);
    }
    CHECK(getenv("TEST_299") != NULL);
    CHECK(clearenv() == 0);
}

int main(void) {
    check_allod_is_malloc();
    string_functions_give_blocks_that_free_takes();
    streams_in_memory_and_long_lines_work();
    qsort_of_many_elements_works();
    environment_may_be_changed();
    return 0;
}
