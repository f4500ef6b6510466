/* foreign.h - values of Scheme as C's and back, for calls of C functions. C gets no object of the region: numbers
 * and pointers are passed by value, strings as copies.
 */
#ifndef SCHEME_FOREIGN_H
#define SCHEME_FOREIGN_H

#include <stdlib.h>

/* The least and most integers of so many bits. */
static inline int64_t sch_c_most(int bits) { return INT64_MAX >> (64 - bits); }
static inline bool sch_c_digit_p(V v) { return sch_is(v, SCH_BIGNUM) && sch_len(v) == 2; }

/* An integer whose digit fills the word is a large one; its sign is its first item. */
static inline bool sch_c_signed_p(V v, int bits) {
    int64_t most = sch_c_most(bits);
    if (allod_is_small(v)) return allod_small_value(v) <= most && allod_small_value(v) >= -most - 1;
    return bits == 64 && sch_c_digit_p(v) && SCH_ITEM(v, 1) <= (uint64_t)most + SCH_ITEM(v, 0);
}
static inline bool sch_c_unsigned_p(V v, int bits) {
    if (allod_is_small(v)) return allod_small_value(v) >= 0 && (uint64_t)allod_small_value(v) <= UINT64_MAX >> (64 - bits);
    return bits == 64 && sch_c_digit_p(v) && SCH_ITEM(v, 0) == 0;
}
static inline uint64_t sch_c_bits(V v) {
    if (allod_is_small(v)) return (uint64_t)allod_small_value(v);
    return SCH_ITEM(v, 0) ? -SCH_ITEM(v, 1) : SCH_ITEM(v, 1);
}
static inline double sch_c_real(V *sp, V v) {
    if (sch_float_p(v)) return sch_float_value(v);
    return allod_is_small(v) ? (double)allod_small_value(v) : sch_float_value(sch_inexact(sp, v));
}
static inline V sch_c_from_signed(int64_t i) {
    return allod_small_value(allod_small(i)) == i ? allod_small(i) : sch_wide(i);
}
static inline V sch_c_from_unsigned(uint64_t u) {
    V v = sch_c_from_signed((int64_t)(u & INT64_MAX));
    if (SCH_LIKELY(u <= INT64_MAX)) return v;
    v = sch_wide(INT64_MIN);
    SCH_ITEM(v, 0) = 0;
    SCH_ITEM(v, 1) = u;
    return v;
}

static inline void *sch_c_pointer(V v) { return (void *)(uintptr_t)SCH_ITEM(v, 0); }
static inline V sch_c_from_pointer(const void *p) { return sch_pointer((uintptr_t)p); }

static inline bool sch_c_string_p(V v) {
    if (!sch_string_p(v)) return false;
    for (size_t i = 0; i < sch_len(v); i++)
        if (sch_chars(v)[i] == 0) return false;
    return true;
}
/* A string's copy, which the caller frees. */
SCH_U static char *sch_c_string(V v) {
    const uint32_t *chars = sch_chars(v);
    size_t n = sch_len(v);
    char *copy = (char *)malloc(4 * n + 1), *p = copy;
    if (!copy) sch_alloc_slow(PTRDIFF_MAX & ~(size_t)7); /* says that memory is out */
    for (size_t i = 0; i < n; i++) {
        uint32_t c = chars[i];
        if (c < 0x80) {
            *p++ = (char)c;
            continue;
        }
        int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        *p++ = (char)(0xF0 << (3 - more) | c >> 6 * more);
        while (more-- > 0) *p++ = (char)(0x80 | (c >> 6 * more & 0x3F));
    }
    *p = 0;
    return copy;
}
/* A copy of C's text; #f for NULL. */
V sch_c_from_string(const char *text);

#endif
