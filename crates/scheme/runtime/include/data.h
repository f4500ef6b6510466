/* data.h - what primitives on pairs, characters, strings, vectors and records are where no types are known.
 */
#ifndef SCHEME_DATA_H
#define SCHEME_DATA_H

/* ---- Pairs -------------------------------------------------------------------------------------- */

static inline bool sch_eq_p(V a, V b) { return a == b; }
bool sch_eqv_slow(V a, V b);
static inline bool sch_eqv_p(V a, V b) {
    return a == b || (sch_is_object(a) && sch_is_object(b) && sch_eqv_slow(a, b));
}
bool sch_equal_slow(V a, V b);
static inline bool sch_equal_p(V a, V b) {
    return a == b || (sch_is_object_or_pair(a) && sch_is_object_or_pair(b) && sch_equal_slow(a, b));
}
static inline V sch_car(V *sp, V x) {
    if (SCH_UNLIKELY(!sch_pair_p(x))) sch_type_error(sp, "car", 1, "a pair", x);
    return SCH_CAR(x);
}
static inline V sch_cdr(V *sp, V x) {
    if (SCH_UNLIKELY(!sch_pair_p(x))) sch_type_error(sp, "cdr", 1, "a pair", x);
    return SCH_CDR(x);
}
static inline void sch_set_car_x(V *sp, V x, V v) {
    if (SCH_UNLIKELY(!sch_pair_p(x))) sch_type_error(sp, "set-car!", 1, "a pair", x);
    if (SCH_UNLIKELY(sch_is_constant(x))) sch_constant_error(sp, "set-car!", x);
    SCH_CAR(x) = v;
}
static inline void sch_set_cdr_x(V *sp, V x, V v) {
    if (SCH_UNLIKELY(!sch_pair_p(x))) sch_type_error(sp, "set-cdr!", 1, "a pair", x);
    if (SCH_UNLIKELY(sch_is_constant(x))) sch_constant_error(sp, "set-cdr!", x);
    SCH_CDR(x) = v;
}
bool sch_list_p(V x);
V sch_length(V *sp, V x);
V sch_append2(V *sp, V a, V b);
V sch_reverse(V *sp, V x);
V sch_list_tail(V *sp, V x, V k);
V sch_list_ref(V *sp, V x, V k);
V sch_list_copy(V x);
V sch_make_list(V *sp, V k, V fill);

/* What is left of a list from the first item that is the same, and the first of its entries with that key. */
#define SCH_SEARCH(member, assoc, same)                                                              \
    SCH_U __attribute__((noinline)) static V sch_##member(V *sp, V x, V list) {                      \
        V rest = list;                                                                               \
        for (; sch_pair_p(rest); rest = SCH_CDR(rest))                                               \
            if (same(SCH_CAR(rest), x)) return rest;                                                 \
        if (SCH_UNLIKELY(rest != ALLOD_NIL)) sch_type_error(sp, #member, 2, "a list", list);         \
        return ALLOD_FALSE;                                                                          \
    }                                                                                                \
    SCH_U __attribute__((noinline)) static V sch_##assoc(V *sp, V x, V list) {                       \
        V rest = list;                                                                               \
        for (; sch_pair_p(rest); rest = SCH_CDR(rest)) {                                             \
            V entry = SCH_CAR(rest);                                                                 \
            if (SCH_UNLIKELY(!sch_pair_p(entry))) sch_type_error(sp, #assoc, 2, "a list of pairs", list); \
            if (same(SCH_CAR(entry), x)) return entry;                                               \
        }                                                                                            \
        if (SCH_UNLIKELY(rest != ALLOD_NIL)) sch_type_error(sp, #assoc, 2, "a list", list);          \
        return ALLOD_FALSE;                                                                          \
    }
SCH_SEARCH(memq, assq, sch_eq_p)
SCH_SEARCH(memv, assv, sch_eqv_p)
SCH_SEARCH(member, assoc, sch_equal_p)

/* ---- Symbols, characters, strings ---------------------------------------------------------------- */

V sch_symbol_to_string(V *sp, V a);
V sch_string_to_symbol(V *sp, V a);

static inline V sch_char_to_integer(V *sp, V c) {
    if (SCH_UNLIKELY(!allod_is_char(c))) sch_type_error(sp, "char->integer", 1, "a character", c);
    return allod_small(allod_char_value(c));
}
V sch_integer_to_char(V *sp, V a);
#define SCH_COMPARE_CHARS(name, text, operator)                                                  \
    static inline bool sch_##name(V *sp, V a, V b) {                                             \
        if (SCH_UNLIKELY(!allod_is_char(a))) sch_type_error(sp, text, 1, "a character", a);      \
        if (SCH_UNLIKELY(!allod_is_char(b))) sch_type_error(sp, text, 2, "a character", b);      \
        return a operator b;                                                                     \
    }
SCH_COMPARE_CHARS(char_eq_p, "char=?", ==)
SCH_COMPARE_CHARS(char_lt_p, "char<?", <)
SCH_COMPARE_CHARS(char_lt_eq_p, "char<=?", <=)
/* Of characters, those of ASCII here, all others in the library. */
#define SCH_OF_CHAR(type, name, ascii)                          \
    type sch_##name##_any(V *sp, V c);                          \
    static inline type sch_##name(V *sp, V c) {                 \
        uint32_t a = allod_char_value(c);                       \
        if (SCH_LIKELY(allod_is_char(c) && a < 128)) return ascii; \
        return sch_##name##_any(sp, c);                         \
    }
SCH_OF_CHAR(bool, char_alphabetic_p, (a | 32) - 'a' < 26)
SCH_OF_CHAR(bool, char_numeric_p, a - '0' < 10)
SCH_OF_CHAR(bool, char_whitespace_p, a == ' ' || a - '\t' < 5)
SCH_OF_CHAR(bool, char_upper_case_p, a - 'A' < 26)
SCH_OF_CHAR(bool, char_lower_case_p, a - 'a' < 26)
SCH_OF_CHAR(V, char_upcase, allod_char(a - 'a' < 26 ? a - 32 : a))
SCH_OF_CHAR(V, char_downcase, allod_char(a - 'A' < 26 ? a + 32 : a))
V sch_char_foldcase(V *sp, V c);
V sch_digit_value(V *sp, V c);

static inline uint32_t *sch_chars(V s) { return (uint32_t *)(sch_object(s) + 1); }
static inline size_t sch_len(V v) { return (size_t)(*sch_object(v) >> 16); }
/* Whether `i` is an index below `len`. */
static inline bool sch_is_index(V i, size_t len) { return (i & 1) && (i >> 3) < len; }

V sch_make_string(V *sp, V k, V c);
static inline V sch_string_length(V *sp, V s) {
    if (SCH_UNLIKELY(!sch_string_p(s))) sch_type_error(sp, "string-length", 1, "a string", s);
    return allod_small((int64_t)sch_len(s));
}
static inline V sch_string_ref(V *sp, V s, V i) {
    if (SCH_UNLIKELY(!sch_string_p(s))) sch_type_error(sp, "string-ref", 1, "a string", s);
    if (SCH_UNLIKELY(!sch_is_index(i, sch_len(s)))) sch_range_error(sp, "string-ref", 2, i);
    return allod_char(sch_chars(s)[i >> 3]);
}
static inline void sch_string_set_x(V *sp, V s, V i, V c) {
    if (SCH_UNLIKELY(!sch_string_p(s))) sch_type_error(sp, "string-set!", 1, "a string", s);
    if (SCH_UNLIKELY(!sch_is_index(i, sch_len(s)))) sch_range_error(sp, "string-set!", 2, i);
    if (SCH_UNLIKELY(!allod_is_char(c))) sch_type_error(sp, "string-set!", 3, "a character", c);
    if (SCH_UNLIKELY(sch_is_constant(s))) sch_constant_error(sp, "string-set!", s);
    sch_chars(s)[i >> 3] = allod_char_value(c);
}
V sch_string_compare(V *sp, V a, V b);
V sch_string_append(V *sp, V list);
V sch_string_copy(V *sp, V s, V start, V end);
V sch_substring(V *sp, V s, V start, V end);
void sch_string_copy_x(V *sp, V to, V at, V from, V start, V end);
void sch_string_fill_x(V *sp, V s, V c, V start, V end);
V sch_string_to_list(V *sp, V s, V start, V end);
V sch_list_to_string(V *sp, V list);
V sch_string_to_vector(V *sp, V s, V start, V end);
V sch_vector_to_string(V *sp, V v, V start, V end);
V sch_string_upcase(V *sp, V s);
V sch_string_downcase(V *sp, V s);
V sch_string_foldcase(V *sp, V s);
V sch_string_to_utf8(V *sp, V s, V start, V end);
V sch_utf8_to_string(V *sp, V b, V start, V end);

/* ---- Vectors and bytevectors ---------------------------------------------------------------------- */

V sch_make_vector(V *sp, V k, V fill);
static inline V sch_vector_length(V *sp, V v) {
    if (SCH_UNLIKELY(!sch_vector_p(v))) sch_type_error(sp, "vector-length", 1, "a vector", v);
    return allod_small((int64_t)sch_len(v));
}
static inline V sch_vector_ref(V *sp, V v, V i) {
    if (SCH_UNLIKELY(!sch_vector_p(v))) sch_type_error(sp, "vector-ref", 1, "a vector", v);
    if (SCH_UNLIKELY(!sch_is_index(i, sch_len(v)))) sch_range_error(sp, "vector-ref", 2, i);
    return sch_object(v)[1 + (i >> 3)];
}
static inline void sch_vector_set_x(V *sp, V v, V i, V x) {
    if (SCH_UNLIKELY(!sch_vector_p(v))) sch_type_error(sp, "vector-set!", 1, "a vector", v);
    if (SCH_UNLIKELY(!sch_is_index(i, sch_len(v)))) sch_range_error(sp, "vector-set!", 2, i);
    if (SCH_UNLIKELY(sch_is_constant(v))) sch_constant_error(sp, "vector-set!", v);
    sch_object(v)[1 + (i >> 3)] = x;
}
V sch_vector_to_list(V *sp, V v, V start, V end);
V sch_list_to_vector(V *sp, V list);
void sch_vector_fill_x(V *sp, V v, V fill, V start, V end);
V sch_vector_copy(V *sp, V v, V start, V end);
void sch_vector_copy_x(V *sp, V to, V at, V from, V start, V end);
V sch_vector_append(V *sp, V list);
V sch_make_bytevector(V *sp, V k, V fill);
V sch_list_to_bytevector(V *sp, V list);
static inline V sch_bytevector_length(V *sp, V b) {
    if (SCH_UNLIKELY(!sch_bytevector_p(b))) sch_type_error(sp, "bytevector-length", 1, "a bytevector", b);
    return allod_small((int64_t)sch_len(b));
}
static inline V sch_bytevector_u8_ref(V *sp, V b, V i) {
    if (SCH_UNLIKELY(!sch_bytevector_p(b))) sch_type_error(sp, "bytevector-u8-ref", 1, "a bytevector", b);
    if (SCH_UNLIKELY(!sch_is_index(i, sch_len(b)))) sch_range_error(sp, "bytevector-u8-ref", 2, i);
    return allod_small(((uint8_t *)(sch_object(b) + 1))[i >> 3]);
}
static inline void sch_bytevector_u8_set_x(V *sp, V b, V i, V x) {
    if (SCH_UNLIKELY(!sch_bytevector_p(b))) sch_type_error(sp, "bytevector-u8-set!", 1, "a bytevector", b);
    if (SCH_UNLIKELY(!sch_is_index(i, sch_len(b)))) sch_range_error(sp, "bytevector-u8-set!", 2, i);
    if (SCH_UNLIKELY(!sch_is_index(x, 256))) sch_type_error(sp, "bytevector-u8-set!", 3, "a byte", x);
    if (SCH_UNLIKELY(sch_is_constant(b))) sch_constant_error(sp, "bytevector-u8-set!", b);
    ((uint8_t *)(sch_object(b) + 1))[i >> 3] = (uint8_t)(x >> 3);
}
V sch_bytevector_copy(V *sp, V b, V start, V end);
void sch_bytevector_copy_x(V *sp, V to, V at, V from, V start, V end);
V sch_bytevector_append(V *sp, V list);

/* ---- Records, values, promises --------------------------------------------------------------------- */

V sch_make_rtd(V name, V fields);
static inline V sch_record(size_t n, const V *all) { return sch_filled(sch_new_record(n), n, all); }
static inline bool sch_record_p(V v, V rtd) { return sch_is(v, SCH_RECORD) && sch_object(v)[1] == rtd; }
V sch_record_error(V *sp, V is, V rtd, V who) __attribute__((cold, noreturn));
static inline V sch_record_ref(V *sp, V v, V rtd, V i, V who) {
    if (SCH_UNLIKELY(!sch_record_p(v, rtd))) sch_record_error(sp, v, rtd, who);
    return sch_object(v)[2 + (i >> 3)];
}
static inline void sch_record_set_x(V *sp, V v, V rtd, V i, V x, V who) {
    if (SCH_UNLIKELY(!sch_record_p(v, rtd))) sch_record_error(sp, v, rtd, who);
    sch_object(v)[2 + (i >> 3)] = x;
}
V sch_values_to_list(V v);
static inline V sch_dynamic(void) { return sch_rt.dynamic; }
static inline void sch_set_dynamic_x(V v) { sch_rt.dynamic = v; }
static inline V sch_winders(void) { return sch_rt.winders; }
static inline void sch_set_winders_x(V v) { sch_rt.winders = v; }
static inline V sch_make_promise(V done, V value) {
    V content = sch_cons(done, value);
    uint64_t *p = sch_alloc(SCH_PROMISE, 1, 0);
    p[1] = content;
    return (V)p;
}
static inline bool sch_promise_done_p(V p) { return SCH_CAR(sch_object(p)[1]) != ALLOD_FALSE; }
static inline V sch_promise_value(V p) { return SCH_CDR(sch_object(p)[1]); }
static inline void sch_promise_set_x(V p, V done, V value) {
    SCH_CAR(sch_object(p)[1]) = done;
    SCH_CDR(sch_object(p)[1]) = value;
}
static inline void sch_promise_share_x(V p, V other) { sch_object(other)[1] = sch_object(p)[1]; }

#endif
