/* The functions of allod/heap.h, as C11; heap_h.cc includes this as C++17.
 * modes: shared archive static */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "threads.h"
#include <allod/heap.h>
#include <stddef.h>
#include <unistd.h>

static void version_is_that_of_the_header(void) {
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", ALLOD_VERSION_MAJOR, ALLOD_VERSION_MINOR,
             ALLOD_VERSION_PATCH);
    CHECK(strcmp(text, ALLOD_VERSION) == 0);
    CHECK(strcmp(allod_version(), ALLOD_VERSION) == 0);
}

static void blocks_mix_with_those_of_malloc(void) {
    for (size_t size = 0; size < 3000000; size = size * 3 / 2 + 1) {
        unsigned char *block = (unsigned char *)allod_malloc(size);
        CHECK(block != NULL && allod_usable_size(block) >= size);
        memset(block, 1, size);
        block = (unsigned char *)realloc(block, size + 50);
        CHECK(block != NULL && is_filled(block, 1, size));
        allod_free(block);
        block = (unsigned char *)malloc(size);
        block = (unsigned char *)allod_realloc(block, size + 50);
        CHECK(block != NULL);
        free(block);
        block = (unsigned char *)allod_calloc(size, 2);
        CHECK(block != NULL && is_filled(block, 0, size * 2));
        allod_free_sized(block, size * 2);
        block = (unsigned char *)allod_aligned_alloc(512, size);
        CHECK(block != NULL && is_aligned(block, 512));
        allod_free_aligned_sized(block, 512, size);
        block = (unsigned char *)allod_reallocarray(NULL, size + 1, 3);
        CHECK(block != NULL && allod_usable_size(block) >= 3 * size + 3);
        free(block);
    }
    CHECK(allod_usable_size(NULL) == 0);
    allod_free(NULL);
}

static void failures_are_those_of_malloc(void) {
    errno = 0;
    CHECK(allod_malloc(opaque_size(SIZE_MAX)) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(allod_calloc(opaque_size(SIZE_MAX), 2) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(allod_reallocarray(NULL, opaque_size(SIZE_MAX), 2) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(allod_aligned_alloc(opaque_size(24), 8) == NULL && errno == EINVAL);
    void *block = allod_malloc(10);
    CHECK(allod_realloc(block, opaque_size(0)) == NULL);
}

static void good_size_is_what_a_block_gets(void) {
    for (size_t size = 1; size < 3000000; size = size * 4 / 3 + 1) {
        size_t good = allod_good_size(size);
        void *block = malloc(size), *exact = malloc(good);
        CHECK(good >= size && allod_usable_size(exact) >= good);
        if (size <= 1 << 20) /* larger blocks may get less than whole pages more */
            CHECK(allod_usable_size(block) == good && allod_usable_size(exact) == good);
        free(block);
        free(exact);
    }
}

static void heap_serves_all_kinds_of_blocks(allod_heap_t *heap) {
    for (size_t size = 0; size < 3000000; size = size * 2 + 1) {
        unsigned char *block = (unsigned char *)allod_heap_malloc(heap, size);
        unsigned char *zero = (unsigned char *)allod_heap_calloc(heap, 3, size);
        unsigned char *aligned = (unsigned char *)allod_heap_aligned_alloc(heap, 4096, size);
        CHECK(block != NULL && zero != NULL && aligned != NULL);
        CHECK(is_filled(zero, 0, 3 * size) && is_aligned(aligned, 4096));
        memset(block, 7, size);
        block = (unsigned char *)allod_heap_realloc(heap, block, size * 2 + 10);
        CHECK(block != NULL && is_filled(block, 7, size));
        memset(aligned, 8, size);
        allod_free(zero);
    }
    errno = 0;
    CHECK(allod_heap_malloc(heap, opaque_size(SIZE_MAX)) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(allod_heap_calloc(heap, opaque_size(SIZE_MAX), 2) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(allod_heap_aligned_alloc(heap, opaque_size(7), 2) == NULL && errno == EINVAL);
    CHECK(allod_heap_realloc(heap, allod_heap_malloc(heap, 5), opaque_size(0)) == NULL);
}

static void *free_in_thread(void *block) {
    allod_free(block);
    return NULL;
}

static void heaps_are_destroyed_whole(void) {
    for (int round = 0; round < 300; round++) {
        allod_heap_t *heap = allod_heap_new(), *other = allod_heap_new();
        CHECK(heap != NULL && other != NULL && heap != other);
        unsigned char *kept = (unsigned char *)allod_heap_malloc(other, 5000);
        CHECK(kept != NULL);
        memset(kept, 3, 5000);
        heap_serves_all_kinds_of_blocks(heap);
        if (round % 50 == 0) join_thread(start_thread(free_in_thread, allod_heap_malloc(heap, 40)));
        allod_heap_destroy(heap);
        CHECK(is_filled(kept, 3, 5000));
        allod_heap_destroy(other);
    }
    allod_heap_destroy(NULL);
    CHECK(resident_kib() < 200 * 1024);
}

static void purging_gives_memory_back(void) {
    enum { COUNT = 20000, SIZE = 5000 };
    static void *blocks[COUNT];
    for (int i = 0; i < COUNT; i++) {
        blocks[i] = malloc(SIZE);
        CHECK(blocks[i] != NULL);
        memset(blocks[i], 1, SIZE);
    }
    long full = resident_kib();
    for (int i = 0; i < COUNT; i++) free(blocks[i]);
    allod_purge(ALLOD_PURGE_THREAD);
    allod_purge(ALLOD_PURGE_PROCESS);
    CHECK(resident_kib() < full - 80000);
    errno = 0;
    CHECK(allod_purge((allod_purge_scope)7) == 0 && errno == EINVAL);
}

static void statistics_count_what_is_held(void) {
    allod_stats before, after;
    before.record_size = after.record_size = sizeof before;
    CHECK(allod_stats_get(&before) == 0 && before.record_size == sizeof before);
    void *small = malloc(1000), *large = malloc(50 << 20);
    CHECK(small != NULL && large != NULL);
    CHECK(allod_stats_get(&after) == 0);
    CHECK(after.small_bytes >= before.small_bytes + 1000);
    CHECK(after.large_bytes >= before.large_bytes + (50 << 20));
    CHECK(after.span_bytes >= after.small_bytes + after.large_bytes);
    CHECK(after.peak_span_bytes >= after.span_bytes && after.thread_heaps >= 1);
    free(small);
    free(large);
    CHECK(allod_stats_get(&after) == 0 && after.large_bytes == before.large_bytes);
}

static void statistics_tell_of_shared_locks_and_of_what_is_kept_near(void) {
    allod_stats before, after;
    void *blocks[8];
    before.record_size = after.record_size = sizeof before;
    allod_purge(ALLOD_PURGE_PROCESS);
    CHECK(allod_stats_get(&before) == 0);
    for (int i = 0; i < 8; i++) CHECK((blocks[i] = malloc(900000)) != NULL);
    for (int i = 0; i < 8; i++) free(blocks[i]);
    free(malloc(50 << 20));
    CHECK(allod_stats_get(&after) == 0);
    CHECK(after.source_locks > before.source_locks);
    CHECK(after.pool_locks >= before.pool_locks && after.lock_waits >= before.lock_waits);
    CHECK(after.huge_pages >= before.huge_pages && after.turns >= before.turns);
    CHECK(after.near_bytes > before.near_bytes && after.near_bytes <= after.span_bytes);
}

static void statistics_fill_no_more_than_there_is_room_for(void) {
    allod_stats stats;
    memset(&stats, 0x55, sizeof stats);
    stats.record_size = offsetof(allod_stats, cached_bytes);
    CHECK(allod_stats_get(&stats) == 0);
    CHECK(stats.record_size == offsetof(allod_stats, cached_bytes));
    CHECK(is_filled(&stats.cached_bytes, 0x55, sizeof stats - offsetof(allod_stats, cached_bytes)));
    stats.record_size = sizeof stats + 1000;
    CHECK(allod_stats_get(&stats) == 0 && stats.record_size == sizeof stats);
    stats.record_size = 3;
    errno = 0;
    CHECK(allod_stats_get(&stats) == -1 && errno == EINVAL);
}

static void report_is_written_to_a_descriptor(void) {
    char text[200] = "";
    int ends[2];
    CHECK(pipe(ends) == 0);
    allod_stats_print(ends[1]);
    CHECK(read(ends[0], text, sizeof text - 1) > 100);
    CHECK(strncmp(text, "allod " ALLOD_VERSION, 6 + strlen(ALLOD_VERSION)) == 0);
    close(ends[0]);
    close(ends[1]);
}

static void state_is_written_as_json(void) {
    static char text[32768];
    int ends[2];
    CHECK(pipe(ends) == 0);
    allod_stats_json(ends[1]);
    close(ends[1]);
    size_t length = 0;
    for (ssize_t n; (n = read(ends[0], text + length, sizeof text - 1 - length)) > 0;) length += (size_t)n;
    close(ends[0]);
    CHECK(strncmp(text, "{\"version\":\"" ALLOD_VERSION "\"", 13 + strlen(ALLOD_VERSION)) == 0);
    CHECK(strstr(text, "\"small_bytes\":") != NULL);
    CHECK(length > 500 && strcmp(text + length - 3, "]}\n") == 0);
}

static uint64_t setting(const char *name) {
    uint64_t value = 77;
    CHECK(allod_setting_get(name, &value) == 0);
    return value;
}

static void settings_are_read_and_changed_by_name(void) {
    static const char *const names[] = {"stats", "purge_delay_ms", "hugepages", "guard", "profile_every"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint64_t before = setting(names[i]);
        errno = 0;
        CHECK(allod_setting_set(names[i], 1) == 0 && setting(names[i]) == 1 && errno == 0);
        CHECK(allod_setting_set(names[i], before) == 0 && setting(names[i]) == before);
    }
    CHECK(allod_guard(900) == 0 && setting("guard") == 900 && allod_guard(0) == 0);
}

static void settings_that_are_none_are_refused(void) {
    uint64_t value = 77, verbose = setting("verbose"), other = 1 - verbose;
    errno = 0;
    CHECK(allod_setting_get("purge_delay", &value) == -1 && errno == ENOENT && value == 77);
    errno = 0;
    CHECK(allod_setting_set("ALLOD_STATS", 1) == -1 && errno == ENOENT);
    errno = 0;
    CHECK(allod_setting_set("\xff", 1) == -1 && errno == ENOENT);
    errno = 0;
    CHECK(allod_setting_get("profile", &value) == -1 && errno == EINVAL && value == 77);
    errno = 0;
    CHECK(allod_setting_set("verbose", other) == -1 && errno == EPERM && setting("verbose") == verbose);
    errno = 0;
    CHECK(allod_setting_set("abort", 2) == -1 && errno == ERANGE && setting("abort") == 1);
    errno = 0;
    CHECK(allod_setting_set("guard", UINT64_MAX) == -1 && errno == ERANGE && setting("guard") == 0);
}

static void *changes_settings(void *name) {
    for (uint64_t i = 0; i < 2000; i++) {
        CHECK(allod_setting_set((const char *)name, i % 2) == 0);
        CHECK(setting((const char *)name) < 2);
        free(malloc(i));
    }
    return NULL;
}

static void threads_may_change_settings_at_once(void) {
    char *const names[] = {(char *)"guard", (char *)"guard", (char *)"purge_delay_ms", (char *)"background"};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) threads[i] = start_thread(changes_settings, names[i]);
    for (int i = 0; i < 4; i++) join_thread(threads[i]);
    CHECK(allod_setting_set("guard", 0) == 0 && allod_setting_set("purge_delay_ms", 500) == 0);
    CHECK(allod_setting_set("background", 1) == 0);
}

static void owner_of_tells_what_an_address_is(void) {
    static int outside;
    char *small = (char *)malloc(100), *large = (char *)malloc(5 << 20);
    allod_owner owner = allod_owner_of(small + 10);
    CHECK(owner.kind == ALLOD_OWNER_BLOCK && owner.in_use == 1);
    CHECK(owner.start == small && owner.offset == 10 && owner.size == allod_usable_size(small));
    CHECK(owner.owner != 0);
    owner = allod_owner_of(large + 100000);
    CHECK(owner.kind == ALLOD_OWNER_LARGE && owner.start == large && owner.offset == 100000);
    CHECK(owner.size == allod_usable_size(large));
    CHECK(allod_owner_of(&outside).kind == ALLOD_OWNER_UNKNOWN);
    CHECK(allod_owner_of(NULL).kind == ALLOD_OWNER_UNKNOWN);
    CHECK(allod_owner_of((void *)opaque_size(SIZE_MAX)).kind == ALLOD_OWNER_UNKNOWN);
    free(small);
    free(large);
}

int main(void) {
    check_allod_is_malloc();
    version_is_that_of_the_header();
    blocks_mix_with_those_of_malloc();
    failures_are_those_of_malloc();
    good_size_is_what_a_block_gets();
    heaps_are_destroyed_whole();
    purging_gives_memory_back();
    statistics_count_what_is_held();
    statistics_tell_of_shared_locks_and_of_what_is_kept_near();
    statistics_fill_no_more_than_there_is_room_for();
    report_is_written_to_a_descriptor();
    state_is_written_as_json();
    settings_are_read_and_changed_by_name();
    settings_that_are_none_are_refused();
    threads_may_change_settings_at_once();
    owner_of_tells_what_an_address_is();
    return 0;
}
