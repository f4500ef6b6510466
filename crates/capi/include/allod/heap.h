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

#ifdef __cplusplus
}
#endif

#endif
