/* allod/frame.h - frames for C and C++: memory that lives for one iteration of a loop.
 *
 * An arena keeps chunks of memory; a frame takes bytes from them by moving a cursor that lives in the frame
 * itself, a struct on the caller's stack. Ending a frame means discarding the struct: the arena's next
 * frame starts where this one did. A nested scope is a copy of the struct.
 *
 *     allod_arena *arena = allod_arena_create();
 *     while (running) {
 *         allod_frame frame = allod_frame_begin(arena);
 *         struct particle *p = allod_frame_alloc(&frame, n * sizeof *p, _Alignof(struct particle));
 *         ...
 *         allod_frame_end(&frame);
 *     }
 *     allod_arena_destroy(arena);
 *
 * Rules that the compiler cannot check in C:
 *   - memory of a frame is not used after the frame has ended or was rolled back, or its arena was
 *     destroyed, and is never passed to free (liballod reports that);
 *   - an arena is used by one thread at a time, and has one open frame; a scope is opened on the
 *     frame and ended before the frame allocates again;
 *   - a frame is neither copied nor ended twice.
 *
 * Functions that return memory return null with errno ENOMEM when memory is out; nothing else sets
 * errno. Alignments are powers of two. C11 or later, C++17 or later; 64-bit Linux.
 *
 * Compiled for AddressSanitizer, or with -DALLOD_VALGRIND for memcheck, violations of the first rule are
 * reported where they happen: see allod/shadow.h.
 */
#ifndef ALLOD_FRAME_H
#define ALLOD_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "heap.h"
#include "shadow.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The state kept between frames. The first two words are where a frame starts; the rest is private. */
typedef struct allod_arena {
    char *cursor;
    char *limit;
} allod_arena;

/* An open frame or scope: 24 bytes, for the caller's stack. Its fields are private. */
typedef struct allod_frame {
    char *cursor;
    char *limit;
    allod_arena *arena;
#ifdef ALLOD_SHADOW
    char *start;
    char *start_limit;
#endif
} allod_frame;

/* ---- Arenas -------------------------------------------------------------------------------- */

/* A new arena: about 64 bytes until its first allocation, then chunks of 64 KiB, 128 KiB and so on,
 * kept from frame to frame. Null when memory is out. */
ALLOD_ATTR(warn_unused_result)
allod_arena *allod_arena_create(void) ALLOD_NOEXCEPT;

/* Frees an arena and all its memory; null is ignored. No frame of it may be open. */
void allod_arena_destroy(allod_arena *arena) ALLOD_NOEXCEPT;

/* Gives the chunks back to the heap and keeps the arena. No frame of it may be open. */
ALLOD_ATTR(nonnull(1))
void allod_arena_trim(allod_arena *arena) ALLOD_NOEXCEPT;

/* The size of the chunks that an arena keeps, in bytes. */
ALLOD_ATTR(nonnull(1))
size_t allod_arena_reserved(const allod_arena *arena) ALLOD_NOEXCEPT;

/* ---- Frames -------------------------------------------------------------------------------- */

/* The slow path of allod_frame_alloc: the next chunk. */
ALLOD_ATTR(nonnull(1), cold, warn_unused_result)
void *allod_frame_grow(allod_frame *frame, size_t size, size_t align) ALLOD_NOEXCEPT;

/* The bytes a frame has used up to here, outer scopes included. */
ALLOD_ATTR(nonnull(1))
size_t allod_frame_used(const allod_frame *frame) ALLOD_NOEXCEPT;

/* Where the chunk after the one that ends at `limit` begins and ends; false if there is none. */
ALLOD_ATTR(nonnull(1, 3, 4))
int allod_arena_next_chunk(allod_arena *arena, char *limit, char **start, char **end) ALLOD_NOEXCEPT;

#ifdef ALLOD_SHADOW
/* A frame or scope, begun here. */
static inline allod_frame allod_shadow_begun(char *cursor, char *limit, allod_arena *arena) {
    allod_frame frame = {cursor, limit, arena, cursor, limit};
    return frame;
}
/* Memory allocated in a frame since a position may no longer be used. */
static inline void allod_shadow_over(const allod_frame *frame, char *cursor, char *limit) {
    while (limit != frame->limit) {
        allod_shadow_forbid(cursor, (size_t)(limit - cursor));
        if (!allod_arena_next_chunk(frame->arena, limit, &cursor, &limit))
            return;
    }
    allod_shadow_forbid(cursor, (size_t)(frame->cursor - cursor));
}
static inline void allod_shadow_ended(const allod_frame *frame) {
    if (frame->limit)
        allod_shadow_over(frame, frame->start, frame->start_limit);
}
/* A block was allocated; if the frame had not used its chunk before, the rest of the chunk may not be used. */
static inline void allod_shadow_made(const allod_frame *frame, const char *limit, void *block,
                                     size_t size) {
    if (!block)
        return;
    if (frame->limit != limit)
        allod_shadow_forbid(frame->cursor, (size_t)(frame->limit - frame->cursor));
    allod_shadow_allow((char *)block, size);
    allod_shadow_forbid((char *)block + size, (size_t)(frame->cursor - (char *)block) - size);
}
/* The newest block was resized. */
static inline void allod_shadow_resized(const allod_frame *frame, char *block, size_t old_size,
                                        size_t size) {
    if (size > old_size)
        allod_shadow_allow(block + old_size, size - old_size);
    size_t room = size > old_size ? allod_shadow_room(size) : allod_shadow_room(old_size);
    if (room > (size_t)(frame->limit - block))
        room = (size_t)(frame->limit - block);
    allod_shadow_forbid(block + size, room - size);
}
#else
static inline void allod_shadow_resized(const allod_frame *frame, char *block, size_t old_size,
                                        size_t size) {
    (void)frame, (void)block, (void)old_size, (void)size;
}
static inline allod_frame allod_shadow_begun(char *cursor, char *limit, allod_arena *arena) {
    allod_frame frame = {cursor, limit, arena};
    return frame;
}
static inline void allod_shadow_over(const allod_frame *frame, char *cursor, char *limit) {
    (void)frame, (void)cursor, (void)limit;
}
static inline void allod_shadow_ended(const allod_frame *frame) {
    (void)frame;
}
static inline void allod_shadow_made(const allod_frame *frame, const char *limit, void *block,
                                     size_t size) {
    (void)frame, (void)limit, (void)block, (void)size;
}
#endif

/* Begins a frame. Two loads. */
ALLOD_ATTR(nonnull(1))
static inline allod_frame allod_frame_begin(allod_arena *arena) ALLOD_NOEXCEPT {
    return allod_shadow_begun(arena->cursor, arena->limit, arena);
}

/* Ends a frame or scope. Everything allocated in it is gone. */
ALLOD_ATTR(nonnull(1))
static inline void allod_frame_end(allod_frame *frame) ALLOD_NOEXCEPT {
    allod_shadow_ended(frame);
    frame->cursor = frame->limit = NULL;
}

/* Opens a scope within a frame. The frame allocates nothing until the scope has ended. */
ALLOD_ATTR(nonnull(1))
static inline allod_frame allod_frame_scope(const allod_frame *frame) ALLOD_NOEXCEPT {
    return allod_shadow_begun(frame->cursor, frame->limit, frame->arena);
}

/* Ends a scope and keeps what was allocated in it: the way to speculate. */
ALLOD_ATTR(nonnull(1, 2))
static inline void allod_frame_keep(allod_frame *frame, allod_frame *scope) ALLOD_NOEXCEPT {
    frame->cursor = scope->cursor;
    frame->limit = scope->limit;
    scope->cursor = scope->limit = NULL;
}

/* The bump behind allod_frame_alloc. */
ALLOD_ATTR(nonnull(1), warn_unused_result)
static inline void *allod_frame_take(allod_frame *frame, size_t size, size_t align)
    ALLOD_NOEXCEPT {
    uintptr_t cursor = (uintptr_t)frame->cursor;
    uintptr_t padding = (0 - cursor) & (align - 1);
    uintptr_t room = (uintptr_t)frame->limit - cursor;
#if defined(__GNUC__)
    if (__builtin_expect(padding > room || size > room - padding, 0))
#else
    if (padding > room || size > room - padding)
#endif
        return allod_frame_grow(frame, size, align);
    char *block = frame->cursor + padding;
    frame->cursor = block + size;
    return block;
}

/* `size` bytes with unspecified content at a multiple of `align`. About 1.5 ns; with constant alignment and
 * size, this is an addition and one comparison. */
ALLOD_ATTR(nonnull(1), malloc, alloc_size(2), warn_unused_result)
static inline void *allod_frame_alloc(allod_frame *frame, size_t size, size_t align)
    ALLOD_NOEXCEPT {
    const char *limit = frame->limit;
    void *block = allod_frame_take(frame, allod_shadow_room(size), allod_shadow_align(align));
    allod_shadow_made(frame, limit, block, size);
    return block;
}

/* allod_frame_alloc with every byte zero. */
ALLOD_ATTR(nonnull(1), malloc, alloc_size(2), warn_unused_result)
static inline void *allod_frame_zalloc(allod_frame *frame, size_t size, size_t align)
    ALLOD_NOEXCEPT {
    void *block = allod_frame_alloc(frame, size, align);
    return block ? memset(block, 0, size) : NULL;
}

/* Memory for `count` objects of `size` bytes in one step of the cursor; null with ENOMEM when the product
 * overflows. */
ALLOD_ATTR(nonnull(1), malloc, alloc_size(2, 3), warn_unused_result)
static inline void *allod_frame_batch(allod_frame *frame, size_t count, size_t size, size_t align)
    ALLOD_NOEXCEPT {
    if (size != 0 && count > PTRDIFF_MAX / size)
        return allod_frame_grow(frame, SIZE_MAX, align);
    return allod_frame_alloc(frame, count * size, align);
}

/* A copy of `size` bytes. */
ALLOD_ATTR(nonnull(1), malloc, alloc_size(3), warn_unused_result)
static inline void *allod_frame_copy(allod_frame *frame, const void *bytes, size_t size,
                                     size_t align) ALLOD_NOEXCEPT {
    void *block = allod_frame_alloc(frame, size, align);
    return block && size ? memcpy(block, bytes, size) : block;
}

/* A copy of a string. */
ALLOD_ATTR(nonnull(1, 2), malloc, warn_unused_result)
static inline char *allod_frame_strdup(allod_frame *frame, const char *text) ALLOD_NOEXCEPT {
    return (char *)allod_frame_copy(frame, text, strlen(text) + 1, 1);
}

/* Makes a block larger or smaller: in place if it is the newest; otherwise it is copied if it grows. It is
 * also copied if it is not at a multiple of `align`. On null the old block is unchanged. */
ALLOD_ATTR(nonnull(1), alloc_size(4), warn_unused_result)
static inline void *allod_frame_resize(allod_frame *frame, void *block, size_t old_size,
                                       size_t size, size_t align) ALLOD_NOEXCEPT {
    int stays = block && ((uintptr_t)block & (align - 1)) == 0;
    if (stays && (char *)block + allod_shadow_room(old_size) == frame->cursor &&
        allod_shadow_room(size) <= (size_t)(frame->limit - (char *)block)) {
        frame->cursor = (char *)block + allod_shadow_room(size);
        allod_shadow_resized(frame, (char *)block, old_size, size);
        return block;
    }
    if (stays && size <= old_size)
        return block;
    void *moved = allod_frame_alloc(frame, size, align);
    return moved && block ? memcpy(moved, block, size < old_size ? size : old_size) : moved;
}

/* A position of a frame, to roll back to. */
typedef struct allod_checkpoint {
    char *cursor;
    char *limit;
} allod_checkpoint;

/* The current position of a frame. */
ALLOD_ATTR(nonnull(1))
static inline allod_checkpoint allod_frame_checkpoint(const allod_frame *frame) ALLOD_NOEXCEPT {
    allod_checkpoint checkpoint = {frame->cursor, frame->limit};
    return checkpoint;
}

/* Undoes every allocation since the checkpoint, which must be of this frame and not undone. */
ALLOD_ATTR(nonnull(1))
static inline void allod_frame_rollback(allod_frame *frame, allod_checkpoint checkpoint)
    ALLOD_NOEXCEPT {
    allod_shadow_over(frame, checkpoint.cursor, checkpoint.limit);
    frame->cursor = checkpoint.cursor;
    frame->limit = checkpoint.limit;
}

/* ---- The thread's own arena ---------------------------------------------------------------- */

/* Begins a frame in an arena of the calling thread, found without a lock, created at first use and freed
 * when the thread ends. Frames may be nested; they end in reverse order, with allod_thread_frame_end. A
 * null `arena` field means that memory is out. */
#ifndef ALLOD_SHADOW
ALLOD_ATTR(warn_unused_result)
allod_frame allod_thread_frame_begin(void) ALLOD_NOEXCEPT;
#else
typedef struct allod_frame_words {
    char *cursor;
    char *limit;
    allod_arena *arena;
} allod_frame_words;
allod_frame_words allod_thread_frame_words(void) ALLOD_NOEXCEPT __asm__("allod_thread_frame_begin");
ALLOD_ATTR(warn_unused_result)
static inline allod_frame allod_thread_frame_begin(void) ALLOD_NOEXCEPT {
    allod_frame_words words = allod_thread_frame_words();
    return allod_shadow_begun(words.cursor, words.limit, words.arena);
}
#endif

/* Ends the frame that this thread began last. */
#ifndef ALLOD_SHADOW
ALLOD_ATTR(nonnull(1))
void allod_thread_frame_end(allod_frame *frame) ALLOD_NOEXCEPT;
#else
void allod_thread_frame_over(allod_frame *frame) ALLOD_NOEXCEPT __asm__("allod_thread_frame_end");
ALLOD_ATTR(nonnull(1))
static inline void allod_thread_frame_end(allod_frame *frame) ALLOD_NOEXCEPT {
    allod_shadow_ended(frame);
    allod_thread_frame_over(frame);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
