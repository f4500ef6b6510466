/* allod/shadow.h - tells AddressSanitizer and valgrind's memcheck about a frame's memory.
 *
 * Part of allod/frame.h; include that. For AddressSanitizer just compile with -fsanitize=address; for
 * memcheck compile with -DALLOD_VALGRIND, which needs valgrind's headers. Then uses after a frame's end,
 * after a rollback, past a block's end, and of memory that was never allocated are reported where they
 * happen. The whole program must be compiled the same way, because frames are two words larger. Otherwise
 * everything here is empty.
 */
#ifndef ALLOD_SHADOW_H
#define ALLOD_SHADOW_H

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define ALLOD_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ALLOD_ASAN 1
#endif
#endif

#if defined(ALLOD_ASAN) || defined(ALLOD_VALGRIND)
#define ALLOD_SHADOW 1
#endif

#ifdef ALLOD_ASAN
#ifdef __cplusplus
extern "C" {
#endif
void __asan_poison_memory_region(void const volatile *start, size_t size);
void __asan_unpoison_memory_region(void const volatile *start, size_t size);
#ifdef __cplusplus
}
#endif
#define ALLOD_ASAN_FORBID(start, bytes) __asan_poison_memory_region(start, bytes)
#define ALLOD_ASAN_ALLOW(start, bytes) __asan_unpoison_memory_region(start, bytes)
#else
#define ALLOD_ASAN_FORBID(start, bytes) ((void)0)
#define ALLOD_ASAN_ALLOW(start, bytes) ((void)0)
#endif

#ifdef ALLOD_VALGRIND
#include <valgrind/memcheck.h>
#define ALLOD_MEMCHECK_FORBID(start, bytes) ((void)VALGRIND_MAKE_MEM_NOACCESS(start, bytes))
#define ALLOD_MEMCHECK_ALLOW(start, bytes) ((void)VALGRIND_MAKE_MEM_UNDEFINED(start, bytes))
#else
#define ALLOD_MEMCHECK_FORBID(start, bytes) ((void)0)
#define ALLOD_MEMCHECK_ALLOW(start, bytes) ((void)0)
#endif

#ifdef ALLOD_SHADOW
/* The bytes a block takes in its frame: 16 bytes after it may not be touched. */
static inline size_t allod_shadow_room(size_t size) {
    return size > PTRDIFF_MAX - 32 ? size : ((size + 7) & ~(size_t)7) + 16;
}
static inline size_t allod_shadow_align(size_t align) {
    return align < 8 ? 8 : align;
}
/* Nobody may use this memory until it is allocated. */
static inline void allod_shadow_forbid(const char *start, size_t bytes) {
    ALLOD_ASAN_FORBID(start, bytes);
    ALLOD_MEMCHECK_FORBID(start, bytes);
}
/* This memory is an uninitialised block. */
static inline void allod_shadow_allow(const char *start, size_t bytes) {
    ALLOD_ASAN_ALLOW(start, bytes);
    ALLOD_MEMCHECK_ALLOW(start, bytes);
}
#else
static inline size_t allod_shadow_room(size_t size) {
    return size;
}
static inline size_t allod_shadow_align(size_t align) {
    return align;
}
static inline void allod_shadow_forbid(const char *start, size_t bytes) {
    (void)start, (void)bytes;
}
static inline void allod_shadow_allow(const char *start, size_t bytes) {
    (void)start, (void)bytes;
}
#endif

#endif
