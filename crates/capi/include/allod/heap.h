/* allod/heap.h - the Allod heap for C and C++.
 *
 * A program that links with liballod (or runs with it preloaded) uses Allod for malloc, free, operator new
 * and all their relatives, and needs nothing from this header. The functions here are for programs that
 * call Allod by name, or need more than malloc offers.
 *
 * Common to all functions, unless stated otherwise:
 *   - thread-safe; callable before main, in atexit handlers and in thread-local destructors, not in
 *     signal handlers;
 *   - a function that returns a block returns null with errno set on failure: ENOMEM when memory is
 *     out or the size exceeds PTRDIFF_MAX, EINVAL when an alignment is not a power of two; errno is
 *     untouched on success;
 *   - blocks are aligned to at least 16 bytes, and a block of size 0 is a unique pointer;
 *   - any thread may free any block, with allod_free or, if Allod is the program's malloc, with free.
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

/* The version of the running library, such as "0.1.0"; compare with ALLOD_VERSION, the version of this
 * header. The string lives as long as the process. */
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

/* Frees a block; null is ignored; errno is preserved. As free. */
void allod_free(void *block) ALLOD_NOEXCEPT;

/* allod_free for a block that was requested with exactly `size` bytes and no alignment, which may be
 * faster. A wrong size is undefined behaviour. As C23 free_sized. */
void allod_free_sized(void *block, size_t size) ALLOD_NOEXCEPT;

/* allod_free for a block from allod_aligned_alloc(align, size). As C23 free_aligned_sized. */
void allod_free_aligned_sized(void *block, size_t align, size_t size) ALLOD_NOEXCEPT;

/* The usable bytes at `block`, at least as many as requested; 0 for null. */
ALLOD_ATTR(warn_unused_result)
size_t allod_usable_size(const void *block) ALLOD_NOEXCEPT;

/* The size to request instead of `size` when more would be useful: it costs no more memory. Up to 1 MiB it
 * is exactly the usable size of a block requested with `size` bytes; above, `size` in whole pages. */
ALLOD_ATTR(warn_unused_result, const)
size_t allod_good_size(size_t size) ALLOD_NOEXCEPT;

/* ---- First-class heaps --------------------------------------------------------------------- */

/* A heap separate from malloc's, destroyed as a whole. Any thread may use it; each call takes the heap's
 * lock (about 20 ns). Its blocks may also be freed one by one with allod_free, from any thread. */
typedef struct allod_heap allod_heap_t;

/* Creates an empty heap, owned by the caller until allod_heap_destroy; null with ENOMEM when memory is out. */
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

/* Frees all blocks of `heap` at once, and the heap itself; null is ignored. Neither the heap nor any of its
 * blocks may be used during the call or afterwards. The cost grows with the memory that the heap holds, not
 * with the number of its blocks. */
void allod_heap_destroy(allod_heap_t *heap) ALLOD_NOEXCEPT;

/* ---- Giving memory back -------------------------------------------------------------------- */

typedef enum allod_purge_scope {
    ALLOD_PURGE_THREAD = 0, /* what the calling thread keeps for itself */
    ALLOD_PURGE_PROCESS = 1 /* free memory of the whole process */
} allod_purge_scope;

/* Gives free memory back to the system now instead of after the decay (ALLOD_PURGE_DELAY_MS) and returns
 * the number of bytes. Blocks in the front caches of other threads stay there. EINVAL and 0 for any other
 * scope. */
size_t allod_purge(allod_purge_scope scope) ALLOD_NOEXCEPT;

/* ---- Finding invalid accesses -------------------------------------------------------------- */

/* Guards one of `one_in` blocks up to 56 KiB from now on, in all threads: it is on a page of its own, and
 * an access out of bounds or after it was freed is reported on standard error with the stacks that
 * allocated and freed it, before the program's own SIGSEGV handler runs. 0: no more blocks; guarded ones
 * stay guarded. Returns 0, or -1 with ENOMEM. As ALLOD_GUARD=1/ONE_IN; see docs/guarding.md. */
int allod_guard(unsigned one_in) ALLOD_NOEXCEPT;

/* ---- Heap profiles ------------------------------------------------------------------------- */

/* Begins a heap profile with one sample in `every` bytes on average (524288 is usual), in all threads;
 * samples of an earlier profile are discarded. Returns 0, or -1 with EINVAL when `every` is 0 and ENOMEM
 * when there is no memory. */
int allod_profile_start(size_t every) ALLOD_NOEXCEPT;

/* Writes the profile to a file in pprof's format: live blocks, and all blocks since the start. The profile
 * continues. Returns 0, or -1 with errno as open and write set it, or ENOMEM, or EBUSY in a signal handler that
 * interrupted the recording of a sample. Does not allocate, and keeps no thread waiting while it writes: the file may
 * be a pipe that this program reads. See docs/profiles.md. */
ALLOD_ATTR(nonnull(1))
int allod_profile_dump(const char *file) ALLOD_NOEXCEPT;

/* Stops sampling. The samples stay, and their frees are still noticed. */
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

/* The state of the heap at one moment. Other threads keep running meanwhile, so sums may be slightly
 * inconsistent. New fields are only added at the end. */
typedef struct allod_stats {
    size_t record_size;        /* in: sizeof(allod_stats); out: bytes that were filled */
    uint64_t small_bytes;      /* in small blocks in use */
    uint64_t large_bytes;      /* in large blocks in use */
    uint64_t cached_bytes;     /* in the front caches of threads */
    uint64_t slab_free_bytes;  /* free in slabs that have blocks in use */
    uint64_t dirty_bytes;      /* free and resident, waiting for reuse or for the decay */
    uint64_t region_bytes;     /* in spans of regions */
    uint64_t frame_bytes;      /* in spans of frames */
    uint64_t span_bytes;       /* in spans of all kinds */
    uint64_t peak_span_bytes;  /* the maximum of span_bytes so far */
    uint64_t metadata_bytes;   /* committed for the span map and records; partly resident */
    uint64_t purged_bytes;     /* given back to the system so far */
    uint64_t purges;           /* system calls that gave memory back */
    uint64_t thread_heaps;     /* heaps of living threads */
    uint64_t orphan_heaps;     /* heaps of ended threads, waiting to be adopted */
    uint64_t first_class_heaps;
    uint64_t refills;          /* front caches filled from slabs */
    uint64_t flushes;          /* front caches emptied into slabs */
    uint64_t parcels_sent;     /* batches of blocks sent back to the threads that own them */
    uint64_t parcels_received;
    uint64_t near_bytes;       /* kept near by heaps for their next blocks, resident or not */
    uint64_t source_locks;     /* times the lock of the span source was taken */
    uint64_t pool_locks;       /* times the lock of the pool of parcels was taken */
    uint64_t lock_waits;       /* times a thread slept on one of Allod's locks */
    uint64_t huge_pages;       /* obtained so far */
    uint64_t turns;            /* turns of giving memory back so far */
    uint64_t heaps_looked_at;  /* heaps visited in these turns */
} allod_stats;

/* Fills `*stats`, whose record_size must be set to sizeof(allod_stats) first; a library older than the
 * header fills less and sets record_size accordingly. Returns 0, or -1 with EINVAL when record_size is too
 * small for itself. The cost grows with the number of heaps. */
ALLOD_ATTR(nonnull(1))
int allod_stats_get(allod_stats *stats) ALLOD_NOEXCEPT;

/* Writes a report for people to a file descriptor, without allocating. An error of the descriptor is
 * ignored. docs/statistics.md says what the lines mean. */
void allod_stats_print(int descriptor) ALLOD_NOEXCEPT;

/* Writes the state of the heap to a file descriptor as one JSON object on one line, without allocating:
 * sums, size classes in use, heaps by thread. An error of the descriptor is ignored. Names are those of
 * docs/statistics.md; more may be added. */
void allod_stats_json(int descriptor) ALLOD_NOEXCEPT;

/* ---- Ownership ----------------------------------------------------------------------------- */

typedef enum allod_owner_kind {
    ALLOD_OWNER_UNKNOWN = 0,  /* not Allod's memory */
    ALLOD_OWNER_BLOCK = 1,    /* in a small block */
    ALLOD_OWNER_LARGE = 2,    /* in a large block */
    ALLOD_OWNER_REGION = 3,   /* in the memory of a region */
    ALLOD_OWNER_FRAME = 4,    /* in the memory of a frame arena */
    ALLOD_OWNER_FREE = 5,     /* Allod's, not in use */
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

/* What the span map knows about `address`, which may be any address; the memory there is not touched. If
 * other threads allocate or free that memory meanwhile, the answer may be out of date. */
ALLOD_ATTR(warn_unused_result)
allod_owner allod_owner_of(const void *address) ALLOD_NOEXCEPT;

/* ---- Misuse -------------------------------------------------------------------------------- */

/* A misuse handler: `text` says in one line what was done to which block, and is valid during the call;
 * `pointer` is the misused pointer. The handler runs in the thread that found the misuse, inside malloc or
 * free, with no lock held; it may allocate, leave by longjmp, or end the process. When it returns, the call
 * that found the misuse does nothing further, and the program continues. */
typedef void (*allod_misuse_handler)(const char *text, const void *pointer);

/* Sets the handler that is called on misuse, instead of a report on standard error and the end of the
 * process; null restores those. docs/security.md says what each build finds. */
void allod_set_misuse_handler(allod_misuse_handler handler) ALLOD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
