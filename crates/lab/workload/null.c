// The null subject: an allocator that does as little as a workload permits.
//
// Small blocks are cut from a short ring that each thread walks round and round, large ones are all
// the same one; nothing is ever freed. Blocks therefore overlap, which the workloads are told to
// tolerate (`--no-check`). What a workload costs on it is the workload's own cost: its loop, its
// writes, the calls through the procedure linkage table.
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))
#define LOCAL static __thread __attribute__((tls_model("initial-exec")))

enum { RING = 128 << 10, RINGS = 64, SMALL = 64 << 10 };
static const size_t BIG = (size_t)1 << 32;

// Rings lie in one zero-filled area with room behind the last for a block that starts at its end.
static _Alignas(4096) char area[RINGS * RING + SMALL + 4096];
static atomic_uint next_ring;
LOCAL char *ring, *cursor;

static _Atomic(char *) big;

static __attribute__((noinline)) char *big_block(void) {
    char *p = atomic_load(&big);
    if (p) return p;
    p = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *none = NULL;
    if (p == MAP_FAILED) return NULL;
    if (atomic_compare_exchange_strong(&big, &none, p)) return p;
    munmap(p, BIG);
    return none;
}

static __attribute__((noinline)) void *slow(size_t align, size_t n) {
    if (n > SMALL || align > 4096) {
        char *p = n <= BIG - align ? big_block() : NULL;
        if (!p) errno = ENOMEM;
        return p;
    }
    if (!ring) ring = area + (atomic_fetch_add(&next_ring, 1) % RINGS) * (size_t)RING;
    char *p = ring;
    cursor = p + ((n + 15) & ~(size_t)15);
    return p;
}

static inline void *bump(size_t align, size_t n) {
    char *p = (char *)(((uintptr_t)cursor + align - 1) & -(uintptr_t)align);
    char *next = p + ((n + 15) & ~(size_t)15);
    if (__builtin_expect(n > SMALL || !ring || next > ring + RING, 0)) return slow(align, n);
    cursor = next;
    return p;
}

EXPORT void *malloc(size_t n) { return bump(16, n); }
EXPORT void free(void *p) { (void)p; }

EXPORT void *calloc(size_t n, size_t m) {
    size_t bytes;
    if (__builtin_mul_overflow(n, m, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *p = bump(16, bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

EXPORT void *realloc(void *p, size_t n) {
    if (p && n <= SMALL) return p;
    return bump(16, n);
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
