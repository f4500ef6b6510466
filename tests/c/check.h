/* What the C and C++ tests share: CHECK, and proof that Allod is the malloc under test. */
#ifndef CHECK_H
#define CHECK_H

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the test with a message unless `condition` holds. */
#define CHECK(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #condition, \
                    errno);                                                                \
            _Exit(1);                                                                      \
        }                                                                                  \
    } while (0)

/* Hides a value from the optimiser, so that calls are made and not reasoned away. */
static inline void *opaque(void *p) {
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

/* Likewise for sizes, so that compilers do not warn of impossible ones. */
static inline size_t opaque_size(size_t n) {
    __asm__ volatile("" : "+r"(n));
    return n;
}

static inline int is_aligned(const void *p, size_t align) {
    return ((uintptr_t)p & (align - 1)) == 0;
}

/* True if all `n` bytes at `p` are `byte`. */
static inline int is_filled(const void *p, int byte, size_t n) {
    const unsigned char *bytes = (const unsigned char *)p;
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != (unsigned char)byte) return 0;
    return 1;
}

#ifdef ALLOD_STATIC
#ifdef __cplusplus
extern "C" const char *allod_version(void) noexcept;
#else
extern const char *allod_version(void);
#endif
#endif

/* Fails unless malloc is Allod's. Statically linked tests name allod_version themselves, so the
 * linker has shown it; the others ask the dynamic linker which object holds malloc. */
static inline void check_allod_is_malloc(void) {
#ifndef ALLOD_STATIC
    Dl_info of_malloc;
    void *version = dlsym(RTLD_DEFAULT, "allod_version");
    void *allocate = dlsym(RTLD_DEFAULT, "malloc");
    CHECK(version != NULL);
    CHECK(allocate != NULL);
    CHECK(dladdr(allocate, &of_malloc) != 0);
    CHECK(strstr(of_malloc.dli_fname, "liballod") != NULL);
#else
    CHECK(allod_version()[0] != 0);
#endif
}

#endif
