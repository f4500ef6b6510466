/* allod/heap.h - the Allod heap for C and C++.
 *
 * A program that links with liballod (or runs with it preloaded) has Allod behind malloc, free,
 * operator new and all their relatives, and needs nothing from this header. The functions here are
 * for programs that want Allod by name, or want more than malloc offers.
 *
 * Common to all functions, unless one says otherwise:
 *   - thread-safe; callable before main, in atexit handlers and in thread-local destructors, not in
 *     signal handlers;
 *   - a function that returns a block returns null with errno set on failure: ENOMEM when memory is
 *     out or the size exceeds PTRDIFF_MAX, EINVAL when an alignment is not a power of two; errno is
 *     untouched on success;
 *   - blocks are aligned to 16 bytes at least, and a block of size 0 is a unique pointer;
 *   - any block may be given back from any thread, with allod_free or, where Allod is the
 *     program's malloc, with free.
 *
 * C11 or later, C++17 or later; 64-bit Linux.
 */
#ifndef ALLOD_HEAP_H
#define ALLOD_HEAP_H

#include <stddef.h>
#include <stdint.h>

#define ALLOD_VERSION_MAJOR 0
#define ALLOD_VERSION_MINOR 1
#define ALLOD_VERSION_PATCH 0
#define ALLOD_VERSION "0.1.0"

#if defined(__GNUC__)
#define ALLOD_ATTR(...) __attribute__((__VA_ARGS__))
#else
#define ALLOD_ATTR(...)
#endif

#ifdef __cplusplus
#define ALLOD_NOEXCEPT noexcept
extern "C" {
#else
#define ALLOD_NOEXCEPT
#endif

/* ---- Version ------------------------------------------------------------------------------- */

/* The version of the library that is running, like "0.1.0"; compare with ALLOD_VERSION, the version
 * of this header. The string lives as long as the process. */
ALLOD_ATTR(warn_unused_result, returns_nonnull)
const char *allod_version(void) ALLOD_NOEXCEPT;

/* ---- Blocks -------------------------------------------------------------------------------- */

/* A block of `size` bytes with unspecified content, aligned to 16. As malloc. */
ALLOD_ATTR(malloc, alloc_size(1), warn_unused_result)
void *allod_malloc(size_t size) ALLOD_NOEXCEPT;

/* A block of `count * size` zero bytes; ENOMEM when the product overflows. As calloc. Memory fresh
 * from the system is not cleared a second time. */
ALLOD_ATTR(malloc, alloc_size(1, 2), warn_unused_result)
void *allod_calloc(size_t count, size_t size) ALLOD_NOEXCEPT;

/* Resizes `block` to `size` bytes and returns where it is now; the content up to the smaller size is
 * kept. Null `block`: as allod_malloc. Size 0: frees `block` and returns null. On failure `block` is
 * untouched and still owned by the caller. As realloc. */
ALLOD_ATTR(alloc_size(2), warn_unused_result)
void *allod_realloc(void *block, size_t size) ALLOD_NOEXCEPT;

/* allod_realloc to `count * size` bytes; ENOMEM when the product overflows. As reallocarray. */
ALLOD_ATTR(alloc_size(2, 3), warn_unused_result)
void *allod_reallocarray(void *block, size_t count, size_t size) ALLOD_NOEXCEPT;

/* A block of `size` bytes aligned to `align`, any power of two; `size` need not be a multiple of it.
 * EINVAL for any other alignment. As C23 aligned_alloc. */
ALLOD_ATTR(malloc, alloc_align(1), alloc_size(2), warn_unused_result)
void *allod_aligned_alloc(size_t align, size_t size) ALLOD_NOEXCEPT;

/* Gives a block back; null is ignored; errno is preserved. As free. */
void allod_free(void *block) ALLOD_NOEXCEPT;

/* allod_free for a block that was asked for with exactly `size` bytes and no alignment, which may be
 * faster. A wrong size is undefined behaviour. As C23 free_sized. */
void allod_free_sized(void *block, size_t size) ALLOD_NOEXCEPT;

/* allod_free for a block from allod_aligned_alloc(align, size). As C23 free_aligned_sized. */
void allod_free_aligned_sized(void *block, size_t align, size_t size) ALLOD_NOEXCEPT;

/* How many bytes at `block` may be used, at least what was asked for; 0 for null. */
ALLOD_ATTR(warn_unused_result)
size_t allod_usable_size(const void *block) ALLOD_NOEXCEPT;

/* The size to ask for instead of `size` when more would be welcome: it costs no more memory. Up to 1 MiB
 * it is exactly the usable size of a block asked for with `size` bytes; above, `size` in whole pages. */
ALLOD_ATTR(warn_unused_result, const)
size_t allod_good_size(size_t size) ALLOD_NOEXCEPT;

/* ---- First-class heaps --------------------------------------------------------------------- */

/* A heap of its own, apart from malloc's, that is destroyed whole. Any thread may use it; each call
 * takes the heap's lock (about 20 ns). Its blocks may also be given back one by one with allod_free,
 * from any thread. */
typedef struct allod_heap allod_heap_t;

/* Makes an empty heap, the caller's until allod_heap_destroy; null with ENOMEM when memory is out. */
ALLOD_ATTR(warn_unused_result)
allod_heap_t *allod_heap_new(void) ALLOD_NOEXCEPT;

/* As allod_malloc, from `heap`. */
ALLOD_ATTR(malloc, alloc_size(2), warn_unused_result, nonnull(1))
void *allod_heap_malloc(allod_heap_t *heap, size_t size) ALLOD_NOEXCEPT;

/* As allod_calloc, from `heap`. */
ALLOD_ATTR(malloc, alloc_size(2, 3), warn_unused_result, nonnull(1))
void *allod_heap_calloc(allod_heap_t *heap, size_t count, size_t size) ALLOD_NOEXCEPT;

/* As allod_realloc, for a block of `heap` or null; the result is a block of `heap`. */
ALLOD_ATTR(alloc_size(3), warn_unused_result, nonnull(1))
void *allod_heap_realloc(allod_heap_t *heap, void *block, size_t size) ALLOD_NOEXCEPT;

/* As allod_aligned_alloc, from `heap`. */
ALLOD_ATTR(malloc, alloc_align(2), alloc_size(3), warn_unused_result, nonnull(1))
void *allod_heap_aligned_alloc(allod_heap_t *heap, size_t align, size_t size) ALLOD_NOEXCEPT;

/* Frees all blocks of `heap` at once and ends it; null is ignored. Neither the heap nor any of its
 * blocks may be used during the call or afterwards. The cost grows with the memory that the heap
 * holds, not with the number of its blocks. */
void allod_heap_destroy(allod_heap_t *heap) ALLOD_NOEXCEPT;

/* ---- Giving memory back -------------------------------------------------------------------- */

typedef enum allod_purge_scope {
    ALLOD_PURGE_THREAD = 0, /* what the calling thread keeps for itself */
    ALLOD_PURGE_PROCESS = 1 /* free memory of the whole process */
} allod_purge_scope;

/* Gives free memory back to the system now instead of after the decay (ALLOD_PURGE_DELAY_MS) and
 * returns how many bytes. Blocks in the front caches of other threads stay there. EINVAL and 0 for any
 * other scope. */
size_t allod_purge(allod_purge_scope scope) ALLOD_NOEXCEPT;

/* ---- Finding wrong accesses ---------------------------------------------------------------- */

/* Has one of `one_in` blocks up to 56 KiB guarded from now on, in all threads: it lies on a page of its own, and an
 * access out of its bounds or after it was freed is reported on standard error with the stacks that allocated
 * and freed it, before the program's own handler of SIGSEGV runs. 0: none any more; those that are guarded stay
 * so. Returns 0, or -1 with ENOMEM. As ALLOD_GUARD=1/ONE_IN; see docs/guarding.md. */
int allod_guard(unsigned one_in) ALLOD_NOEXCEPT;

/* ---- Heap profiles ------------------------------------------------------------------------- */

/* Begins a heap profile with one sample in `every` bytes on average (524288 is usual), in all threads; what an earlier
 * one knew is forgotten. Returns 0, or -1 with EINVAL when `every` is 0 and ENOMEM when there is no memory. */
int allod_profile_start(size_t every) ALLOD_NOEXCEPT;

/* Writes the profile into a file in pprof's format: what is live, and all that was allocated since the start. The
 * profile goes on. Returns 0, or -1 with errno as open and write set it, or ENOMEM. Does not allocate, and keeps no
 * thread waiting while it writes: the file may be a pipe that this program reads. See docs/profiles.md. */
ALLOD_ATTR(nonnull(1))
int allod_profile_dump(const char *file) ALLOD_NOEXCEPT;

/* Takes no more samples. What is known stays, and frees of samples are still seen. */
void allod_profile_stop(void) ALLOD_NOEXCEPT;

/* ---- Settings while the program runs ------------------------------------------------------- */

/* Reads the value in force of a setting. The name is that of the environment variable in small letters, without
 * ALLOD_: "purge_delay_ms" for ALLOD_PURGE_DELAY_MS. A share such as 1/5000 reads as 5000. Returns 0, or -1 with
 * ENOENT when no setting has this name and EINVAL when the setting is a text; `*value` is untouched then. */
ALLOD_ATTR(nonnull(1, 2))
int allod_setting_get(const char *name, uint64_t *value) ALLOD_NOEXCEPT;

/* Changes a setting for all threads; docs/settings.md lists those that can change, and says when each change takes
 * effect. Returns 0, or -1 with nothing changed and errno set: ENOENT when no setting has this name, EPERM when it
 * cannot change while the program runs, ERANGE when it does not take this value, ENOMEM when there is no memory for
 * what it asks for, ENOTSUP for guarded blocks in the hardened build. */
ALLOD_ATTR(nonnull(1))
int allod_setting_set(const char *name, uint64_t value) ALLOD_NOEXCEPT;

/* ---- Statistics ---------------------------------------------------------------------------- */

/* The state of the heap at one moment. Other threads go on meanwhile, so sums may be off by what they
 * do. New fields are added at the end only. */
typedef struct allod_stats {
    size_t record_size;        /* in: sizeof(allod_stats); out: bytes that were filled */
    uint64_t small_bytes;      /* in small blocks that the program holds */
    uint64_t large_bytes;      /* in large blocks that the program holds */
    uint64_t cached_bytes;     /* in the front caches of threads */
    uint64_t slab_free_bytes;  /* free in slabs that have blocks in use */
    uint64_t dirty_bytes;      /* free and resident, waiting for reuse or for the decay */
    uint64_t region_bytes;     /* in spans of regions */
    uint64_t frame_bytes;      /* in spans of frames */
    uint64_t span_bytes;       /* in spans of all kinds */
    uint64_t peak_span_bytes;  /* most bytes ever in spans at once */
    uint64_t metadata_bytes;   /* opened for the span map and records; a part is resident */
    uint64_t purged_bytes;     /* given back to the system so far */
    uint64_t purges;           /* calls of the system that gave memory back */
    uint64_t thread_heaps;     /* heaps of living threads */
    uint64_t orphan_heaps;     /* heaps of ended threads, waiting for the next */
    uint64_t first_class_heaps;
    uint64_t refills;          /* front caches filled from slabs */
    uint64_t flushes;          /* front caches emptied into slabs */
    uint64_t parcels_sent;     /* batches of blocks sent back to the threads that own them */
    uint64_t parcels_received;
    uint64_t near_bytes;       /* kept near by heaps for their next blocks, resident or not */
    uint64_t source_locks;     /* times the lock of the span source was taken */
    uint64_t pool_locks;       /* times the lock of the pool of parcels was taken */
    uint64_t lock_waits;       /* times a thread went to sleep on any lock of Allod's */
    uint64_t huge_pages;       /* made so far */
    uint64_t turns;            /* of giving memory back, so far */
    uint64_t heaps_looked_at;  /* in these turns */
} allod_stats;

/* Fills `*stats`, whose record_size must be set to sizeof(allod_stats) first; a library older than the
 * header fills less and says so in record_size. Returns 0, or -1 with EINVAL when record_size has no
 * room for itself. The cost grows with the number of heaps. */
ALLOD_ATTR(nonnull(1))
int allod_stats_get(allod_stats *stats) ALLOD_NOEXCEPT;

/* Writes a report for people to a file descriptor, without allocating. An error of the descriptor is
 * ignored. docs/statistics.md says what the lines mean. */
void allod_stats_print(int descriptor) ALLOD_NOEXCEPT;

/* Writes the state of the heap to a file descriptor as one JSON object on one line, without allocating: sums, size
 * classes in use, heaps by thread. An error of the descriptor is ignored. Names are those of docs/statistics.md; new
 * ones may come. */
void allod_stats_json(int descriptor) ALLOD_NOEXCEPT;

/* ---- Ownership ----------------------------------------------------------------------------- */

typedef enum allod_owner_kind {
    ALLOD_OWNER_UNKNOWN = 0,  /* not Allod's memory */
    ALLOD_OWNER_BLOCK = 1,    /* in a small block */
    ALLOD_OWNER_LARGE = 2,    /* in a large block */
    ALLOD_OWNER_REGION = 3,   /* in the memory of a region */
    ALLOD_OWNER_FRAME = 4,    /* in the memory of a frame arena */
    ALLOD_OWNER_FREE = 5,     /* Allod's, and nobody uses it */
    ALLOD_OWNER_INTERNAL = 6  /* Allod's own records */
} allod_owner_kind;

typedef struct allod_owner {
    allod_owner_kind kind;
    int in_use;      /* 0 when free; a block in a thread's front cache still counts as in use */
    void *start;     /* of the block; null for other kinds */
    size_t size;     /* usable bytes of the block; 0 for other kinds */
    size_t offset;   /* of the address in the block */
    uintptr_t owner; /* a number for the heap, region or frame arena; 0 if none */
} allod_owner;

/* What the span map knows of `address`, which may be any address at all; the memory there is not
 * touched. For memory that other threads allocate and free meanwhile the answer may be out of date. */
ALLOD_ATTR(warn_unused_result)
allod_owner allod_owner_of(const void *address) ALLOD_NOEXCEPT;

/* ---- Misuse -------------------------------------------------------------------------------- */

/* Is told of misuse: `text` says what was done to which block, on one line, and lives during the call;
 * `pointer` is the one that was misused. It runs in the thread that found the misuse, in the middle of
 * malloc or free, with no lock held; it may allocate, leave by longjmp, or end the process. When it returns,
 * the call that found the misuse does nothing further, and the program goes on. */
typedef void (*allod_misuse_handler)(const char *text, const void *pointer);

/* Has `handler` told of misuse, instead of a report on standard error and the end of the process; null
 * restores that. docs/security.md says what each build finds. */
void allod_set_misuse_handler(allod_misuse_handler handler) ALLOD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
