/* malloc_trim, mallopt, mallinfo, mallinfo2, malloc_info and malloc_stats answer as glibc's do. */
#define _GNU_SOURCE
#include "threads.h"
#include <malloc.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void mallopt_knows_glibcs_parameters_only(void) {
    static const int known[] = {M_MXFAST,      M_TRIM_THRESHOLD, M_TOP_PAD,     M_MMAP_THRESHOLD,
                                M_MMAP_MAX,    M_CHECK_ACTION,   M_PERTURB,     M_ARENA_TEST,
                                M_ARENA_MAX};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) CHECK(mallopt(known[i], 64) == 1);
    CHECK(mallopt(12345, 1) == 0 && mallopt(0, 1) == 0 && mallopt(-100, 1) == 0);
}

static void mallinfo2_follows_what_is_held(void) {
    enum { COUNT = 3000 };
    static void *blocks[COUNT];
    struct mallinfo2 before = mallinfo2();
    for (int i = 0; i < COUNT; i++) CHECK((blocks[i] = opaque(malloc(1000))) != NULL);
    void *large = opaque(malloc(64 << 20));
    struct mallinfo2 held = mallinfo2();
    CHECK(held.uordblks >= before.uordblks + COUNT * 1000);
    CHECK(held.hblkhd >= before.hblkhd + (64 << 20));
    CHECK(held.arena == held.uordblks + held.fordblks);
    for (int i = 0; i < COUNT; i++) free(blocks[i]);
    free(large);
    struct mallinfo2 after = mallinfo2();
    CHECK(after.uordblks < held.uordblks - COUNT * 900 && after.hblkhd == before.hblkhd);
    struct mallinfo old = mallinfo();
    CHECK(old.uordblks > 0 && (size_t)old.uordblks < (size_t)1 << 30);
}

static void malloc_trim_gives_memory_back_and_says_so(void) {
    enum { COUNT = 3000, SIZE = 20000 };
    static void *blocks[COUNT];
    for (int i = 0; i < COUNT; i++) {
        CHECK((blocks[i] = opaque(malloc(SIZE))) != NULL);
        memset(blocks[i], 1, SIZE);
    }
    long full = resident_kib();
    for (int i = 0; i < COUNT; i++) free(blocks[i]);
    CHECK(malloc_trim(0) == 1);
    CHECK(resident_kib() < full - 40000);
}

static void malloc_info_writes_xml(void) {
    static const char start[] = "<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n";
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CHECK(out != NULL && malloc_info(0, out) == 0 && fclose(out) == 0);
    CHECK(strncmp(text, start, sizeof start - 1) == 0);
    CHECK(strstr(text, "<total type=\"fast\" count=\"") != NULL);
    CHECK(strstr(text, "<system type=\"current\" size=\"") != NULL);
    CHECK(strcmp(text + size - 10, "</malloc>\n") == 0);
    free(text);
    errno = 0;
    CHECK(malloc_info(1, stderr) == -1 && errno == EINVAL);
}

static void malloc_stats_reports_on_standard_error(void) {
    char text[100] = "";
    int ends[2], saved = dup(2);
    CHECK(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
    malloc_stats();
    CHECK(dup2(saved, 2) == 2);
    CHECK(read(ends[0], text, sizeof text - 1) > 0 && strncmp(text, "allod ", 6) == 0);
}

int main(void) {
    check_allod_is_malloc();
    mallopt_knows_glibcs_parameters_only();
    mallinfo2_follows_what_is_held();
    malloc_trim_gives_memory_back_and_says_so();
    malloc_info_writes_xml();
    malloc_stats_reports_on_standard_error();
    return 0;
}
