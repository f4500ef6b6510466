// The null subject: an allocator that does as little as possible.
//
// Small blocks are taken from a short ring in each thread, all large ones are the same block;
// nothing is ever freed. A workload that holds one block at a time gets the same block every time
// (`allod_null_recycle`). Blocks therefore overlap, which the workloads must tolerate
// (`--no-check`). On it a workload costs only its own work: its loop, its writes, the calls through
// the procedure linkage table.
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))
#define LOCAL static __thread __attribute__((tls_model("initial-exec")))

// A ring's size is a power of two, to which it is aligned, so that wrapping around is one mask;
// after it there is room for a block that starts at its end.
enum { RING = 128 << 10, STRIDE = 2 * RING, RINGS = 64, SMALL = 64 << 10 };
static const size_t BIG = (size_t)1 << 32;

static _Alignas(RING) char area[RINGS * STRIDE];
static atomic_uint next_ring;
LOCAL uintptr_t cursor;

static _Atomic(char *) big;

static __attribute__((noinline)) void *big_block(size_t align, size_t n) {
    char *p = atomic_load(&big);
    if (!p) {
        p = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        char *none = NULL;
        if (p == MAP_FAILED) {
            p = NULL;
        } else if (!atomic_compare_exchange_strong(&big, &none, p)) {
            munmap(p, BIG);
            p = none;
        }
    }
    if (!p || align > 4096 || n > BIG) {
        errno = ENOMEM;
        return NULL;
    }
    return p;
}

static inline void *cut(uintptr_t at, size_t align, size_t n) {
    uintptr_t p = (at + align - 1) & -(uintptr_t)align;
    cursor = (at & -(uintptr_t)RING) | ((p + n + 15) & (RING - 16));
    return (void *)p;
}

static __attribute__((noinline)) void *slow(size_t align, size_t n) {
    if (n > SMALL || align > 4096) return big_block(align, n);
    uintptr_t ring = (uintptr_t)area + (atomic_fetch_add(&next_ring, 1) % RINGS) * (uintptr_t)STRIDE;
    return cut(ring, align, n);
}

// Every cursor is a multiple of 16.
static inline void *bump(size_t align, size_t n) {
    uintptr_t at = cursor;
    if (__builtin_expect(n > SMALL || align > 4096 || !at, 0)) return slow(align, n);
    return cut(at, align, n);
}

static char *recycled;

// Called by workloads that permit it, if it exists.
EXPORT void allod_null_recycle(void) { recycled = area; }

EXPORT void *malloc(size_t n) {
    if (recycled) return recycled;
    return bump(1, n);
}
EXPORT void free(void *p) { (void)p; }

EXPORT void *calloc(size_t n, size_t m) {
    size_t bytes;
    if (__builtin_mul_overflow(n, m, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *p = bump(1, bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

EXPORT void *realloc(void *p, size_t n) {
    if (p && n <= SMALL) return p;
    return bump(1, n);
}

EXPORT int posix_memalign(void **out, size_t align, size_t n) {
    void *p = bump(align, n);
    if (!p) return ENOMEM;
    *out = p;
    return 0;
}

EXPORT void *aligned_alloc(size_t align, size_t n) { return bump(align < 16 ? 16 : align, n); }
EXPORT void *memalign(size_t align, size_t n) { return bump(align < 16 ? 16 : align, n); }
EXPORT size_t malloc_usable_size(void *p) { (void)p; return 0; }
