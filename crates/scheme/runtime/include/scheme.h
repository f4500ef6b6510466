/* scheme.h - what the C of compiled Scheme programs rests on: values, fast paths, the run-time library.
 *
 * Only `allod scheme` emits code for this header. Values are region.h's, with types of their own for strings
 * (32 bits for each character), large and broken numbers, records, ports and so on. Everything a program
 * makes lies in one region, `sch_rt.region`, which `sch_safe_point` moves when it has grown; the functions
 * declared here have no safe point inside, except where they call a procedure.
 */
#ifndef SCHEME_H
#define SCHEME_H

#include <allod/region.h>

typedef allod_value V;

/* All procedures, and all their clauses. As a value: stack, closure, number of arguments, three of them. */
typedef V (*sch_code)(V *sp, V x0, V x1, V x2, V x3, V x4);

#define SCH_U __attribute__((unused))
#define SCH_LIKELY(x) __builtin_expect(!!(x), 1)
#define SCH_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define SCH_COLD __attribute__((cold, noinline))
/* A call that leaves no frame behind. gcc before 15 has no attribute for it, but makes every such call of
 * ours a jump from -O1 on, where -foptimize-sibling-calls is given. */
#if defined(__has_attribute)
#if __has_attribute(musttail)
#define SCH_TAIL __attribute__((musttail)) return
#endif
#endif
#ifndef SCH_TAIL
#define SCH_TAIL return
#endif

#define SCH_UNSPECIFIED ((V)0x22)
#define SCH_EOF ((V)0x2A)
#define SCH_UNBOUND ((V)0x32)

/* Types of their own, which sch_start registers in this order. */
enum {
    SCH_STRING = 12, /* length characters of 32 bits                        */
    SCH_BIGNUM,      /* sign (0 or 1), then length - 1 digits of 64 bits    */
    SCH_RATIO,       /* numerator, denominator                              */
    SCH_RECORD,      /* record type, then fields                            */
    SCH_RTD,         /* name, list of fields                                */
    SCH_PORT,        /* number in the library's table                       */
    SCH_VALUES,      /* several values                                      */
    SCH_PROMISE,     /* a box: (done? . value or procedure)                 */
    SCH_ERROR        /* kind, message, irritants                            */
};

/* What the library and the program share. */
struct sch_state {
    allod_region *region;
    uint64_t poll;           /* a safe point has something to do             */
    V dynamic;               /* exception handlers and parameters            */
    V winders;               /* what dynamic-wind has entered                */
    V *base;                 /* the stack of roots                           */
    uint64_t constants;      /* where constants lie, and how many bytes      */
    uint64_t constant_bytes;
    uint64_t always;         /* every safe point moves everything            */
    uint64_t serial;         /* counts what ends scopes, and changed chunks  */
    uint64_t same;           /* the same; another where releases are looked at */
    uint64_t kept;           /* marks before this one are over               */
    uint64_t open;           /* in checked programs: marks that are not over */
};
extern struct sch_state sch_rt;

struct sch_name { const char *text; size_t len; };
struct sch_patch { uint32_t word, symbol; };
struct sch_proc { sch_code code; const char *name; };
/* The place in the source that a line of the C stands for, and its procedure. */
struct sch_site { uint32_t c_line, file, line, column; const char *procedure; };
struct sch_program {
    sch_code code;
    V *globals;
    size_t global_count;
    uint64_t *constants;
    size_t constant_words;
    V *symbols;
    const struct sch_name *names;
    size_t symbol_count;
    const struct sch_patch *patches;
    size_t patch_count;
    const struct sch_site *sites;
    size_t site_count;
    const char *const *files;
    const struct sch_proc *procs;
    V raise, raise_continuable, exit;
};

void sch_start(struct sch_program *program, V *base, int argc, char **argv);
void sch_safe_point(V *sp);
void sch_end(void) __attribute__((noreturn));
void *sch_alloc_slow(size_t bytes);

/* ---- Errors ----------------------------------------------------------------------------------- */

V sch_type_error(V *sp, const char *who, int which, const char *what, V is) __attribute__((cold, noreturn));
V sch_range_error(V *sp, const char *who, int which, V is) __attribute__((cold, noreturn));
V sch_constant_error(V *sp, const char *who, V is) __attribute__((cold, noreturn));
V sch_wrong_args(V *sp, const char *who, V argc, const char *takes) __attribute__((cold, noreturn));
V sch_not_procedure(V *sp, V is) __attribute__((cold, noreturn));
V sch_unbound(V *sp, const char *name) __attribute__((cold, noreturn));
V sch_continuation_gone(V *sp) __attribute__((cold, noreturn));
void sch_stack_end(void) __attribute__((cold, noreturn));

/* ---- Types and memory ------------------------------------------------------------------------- */

static inline uint64_t *sch_object(V v) { return (uint64_t *)(uintptr_t)v; }
/* No value is 0, so one test is enough. */
static inline bool sch_is_object(V v) { return (v & 7) == 0; }
static inline bool sch_is(V v, uint32_t type) {
    return sch_is_object(v) && (uint16_t)*sch_object(v) == (uint16_t)(type << 1 | 1);
}
static inline bool sch_pair_p(V v) { return sch_is_object(v) && *sch_object(v) == ALLOD_HEADER(ALLOD_PAIR, 0); }
static inline bool sch_float_p(V v) { return sch_is_object(v) && *sch_object(v) == ALLOD_HEADER(ALLOD_FLOAT, 0); }
static inline bool sch_null_p(V v) { return v == ALLOD_NIL; }
static inline bool sch_not(V v) { return v == ALLOD_FALSE; }
static inline bool sch_symbol_p(V v) { return sch_is(v, ALLOD_SYMBOL); }
static inline bool sch_string_p(V v) { return sch_is(v, SCH_STRING); }
static inline bool sch_char_p(V v) { return allod_is_char(v); }
static inline bool sch_boolean_p(V v) { return allod_is_bool(v); }
static inline bool sch_vector_p(V v) { return sch_is(v, ALLOD_ARRAY); }
static inline bool sch_bytevector_p(V v) { return sch_is(v, ALLOD_BYTES); }
static inline bool sch_procedure_p(V v) { return sch_is(v, ALLOD_CLOSURE); }
static inline bool sch_eof_object_p(V v) { return v == SCH_EOF; }
static inline V sch_eof_object(void) { return SCH_EOF; }
static inline bool sch_unspecified_p(V v) { return v == SCH_UNSPECIFIED; }
static inline bool sch_port_p(V v) { return sch_is(v, SCH_PORT); }
static inline bool sch_promise_p(V v) { return sch_is(v, SCH_PROMISE); }

/* Constants are not to be written. */
static inline bool sch_is_constant(V v) { return v - sch_rt.constants < sch_rt.constant_bytes; }

static inline uint64_t *sch_alloc(uint32_t type, size_t words, size_t len) {
    allod_region *r = sch_rt.region;
    char *p = r->cursor;
    size_t bytes = 8 + 8 * words;
    if (SCH_UNLIKELY(bytes > (size_t)(r->limit - p)))
        p = (char *)sch_alloc_slow(bytes);
    else
        r->cursor = p + bytes;
    *(uint64_t *)p = ALLOD_HEADER(type, len);
    return (uint64_t *)p;
}

static inline V sch_cons(V a, V d) {
    uint64_t *p = sch_alloc(ALLOD_PAIR, 2, 0);
    p[1] = a;
    p[2] = d;
    return (V)p;
}
static inline V sch_float(double f) {
    uint64_t *p = sch_alloc(ALLOD_FLOAT, 1, 0);
    memcpy(p + 1, &f, 8);
    return (V)p;
}
static inline double sch_float_value(V v) {
    double f;
    memcpy(&f, sch_object(v) + 1, 8);
    return f;
}
static inline V sch_values(size_t n, const V *all) {
    if (n == 1) return all[0];
    uint64_t *p = sch_alloc(SCH_VALUES, n, n);
    memcpy(p + 1, all, 8 * n);
    return (V)p;
}
static inline V sch_vector(size_t n, const V *all) {
    uint64_t *p = sch_alloc(ALLOD_ARRAY, n, n);
    memcpy(p + 1, all, 8 * n);
    return (V)p;
}
static inline V sch_closure(sch_code code, size_t n) {
    uint64_t *p = sch_alloc(ALLOD_CLOSURE, 1 + n, n);
    p[1] = (uint64_t)code;
    return (V)p;
}
#define SCH_CAPTURED(closure, i) (sch_object(closure)[2 + (i)])

static inline V sch_box(V v) {
    uint64_t *p = sch_alloc(ALLOD_BOX, 1, 0);
    p[1] = v;
    return (V)p;
}
static inline V sch_unbox(V box) { return sch_object(box)[1]; }
static inline void sch_set_box_x(V box, V v) { sch_object(box)[1] = v; }
static inline V sch_check_bound(V *sp, V v, V name) {
    if (SCH_LIKELY(v != SCH_UNBOUND)) return v;
    V sch_unbound_local(V *, V) __attribute__((cold, noreturn));
    return sch_unbound_local(sp, name);
}
static inline V sch_global(V *sp, V v, const char *name) { return SCH_LIKELY(v != 0) ? v : sch_unbound(sp, name); }

/* ---- Calls ------------------------------------------------------------------------------------- */

static inline sch_code sch_code_of(V *sp, V f) {
    if (SCH_UNLIKELY(!sch_procedure_p(f))) sch_not_procedure(sp, f);
    return (sch_code)sch_object(f)[1];
}
/* The list of the arguments from number `from` on. */
SCH_U static V sch_rest(V *sp, V argc, V from, V a0, V a1, V a2) {
    V list = ALLOD_NIL;
    for (V i = argc; i > from; i--) {
        V a = i == 1 ? a0 : i == 2 ? a1 : i == 3 ? a2 : sp[i - 4];
        list = sch_cons(a, list);
    }
    return list;
}
/* All arguments, side by side. */
SCH_U static void sch_spread(V *sp, V argc, V a0, V a1, V a2) {
    for (V i = argc; i > 3; i--) sp[i - 1] = sp[i - 4];
    if (argc > 2) sp[2] = a2;
    if (argc > 1) sp[1] = a1;
    if (argc > 0) sp[0] = a0;
}

/* ---- Pairs -------------------------------------------------------------------------------------- */

static inline bool sch_eq_p(V a, V b) { return a == b; }
bool sch_eqv_slow(V a, V b);
static inline bool sch_eqv_p(V a, V b) {
    return a == b || (sch_is_object(a) && sch_is_object(b) && sch_eqv_slow(a, b));
}
bool sch_equal_slow(V a, V b);
static inline bool sch_equal_p(V a, V b) {
    return a == b || (sch_is_object(a) && sch_is_object(b) && sch_equal_slow(a, b));
}
static inline V sch_car(V *sp, V x) {
    if (SCH_UNLIKELY(!sch_pair_p(x))) sch_type_error(sp, "car", 1, "a pair", x);
    return sch_object(x)[1];
}
static inline V sch_cdr(V *sp, V x) {
    if (SCH_UNLIKELY(!sch_pair_p(x))) sch_type_error(sp, "cdr", 1, "a pair", x);
    return sch_object(x)[2];
}
static inline void sch_set_car_x(V *sp, V x, V v) {
    if (SCH_UNLIKELY(!sch_pair_p(x))) sch_type_error(sp, "set-car!", 1, "a pair", x);
    if (SCH_UNLIKELY(sch_is_constant(x))) sch_constant_error(sp, "set-car!", x);
    sch_object(x)[1] = v;
}
static inline void sch_set_cdr_x(V *sp, V x, V v) {
    if (SCH_UNLIKELY(!sch_pair_p(x))) sch_type_error(sp, "set-cdr!", 1, "a pair", x);
    if (SCH_UNLIKELY(sch_is_constant(x))) sch_constant_error(sp, "set-cdr!", x);
    sch_object(x)[2] = v;
}
bool sch_list_p(V x);
V sch_length(V *sp, V x);
V sch_append2(V *sp, V a, V b);
V sch_reverse(V *sp, V x);
V sch_list_tail(V *sp, V x, V k);
V sch_list_ref(V *sp, V x, V k);
V sch_list_copy(V x);
V sch_memq(V *sp, V x, V list);
V sch_memv(V *sp, V x, V list);
V sch_member(V *sp, V x, V list);
V sch_assq(V *sp, V x, V list);
V sch_assv(V *sp, V x, V list);
V sch_assoc(V *sp, V x, V list);
V sch_make_list(V *sp, V k, V fill);

/* ---- Numbers ------------------------------------------------------------------------------------ */

/* Of all values only small integers are odd. */
static inline bool sch_both_small(V a, V b) { return a & b & 1; }
static inline bool sch_both_float(V a, V b) { return sch_float_p(a) && sch_float_p(b); }

/* Two flonums, or one and a small integer, as doubles. */
static inline bool sch_doubles(V a, V b, double *x, double *y) {
    if (sch_float_p(a)) {
        *x = sch_float_value(a);
        if (sch_float_p(b)) *y = sch_float_value(b);
        else if (b & 1) *y = (double)allod_small_value(b);
        else return false;
        return true;
    }
    if (!(a & 1) || !sch_float_p(b)) return false;
    *x = (double)allod_small_value(a);
    *y = sch_float_value(b);
    return true;
}

/* One arithmetic operation: integers here, flonums in a call, all else in the library. */
#define SCH_ARITHMETIC(name, small, operator)                                     \
    V sch_##name##_any(V *sp, V a, V b);                                          \
    SCH_U __attribute__((noinline)) static V sch_##name##_slow(V *sp, V a, V b) { \
        double x, y;                                                              \
        /* An exact zero, which is 1, has no sign. */                             \
        if (a != 1 && b != 1 && sch_doubles(a, b, &x, &y)) return sch_float(x operator y); \
        return sch_##name##_any(sp, a, b);                                        \
    }                                                                             \
    static inline V sch_##name(V *sp, V a, V b) {                                 \
        int64_t r;                                                                \
        if (SCH_LIKELY(sch_both_small(a, b)) && SCH_LIKELY(!(small))) return (V)r; \
        return sch_##name##_slow(sp, a, b);                                       \
    }
SCH_ARITHMETIC(add, __builtin_add_overflow((int64_t)a, (int64_t)(b - 1), &r), +)
SCH_ARITHMETIC(sub, __builtin_sub_overflow((int64_t)a, (int64_t)(b - 1), &r), -)
SCH_ARITHMETIC(mul, (__builtin_mul_overflow((int64_t)(a - 1), (int64_t)b >> 3, &r) || (r++, 0)), *)
V sch_div_any(V *sp, V a, V b);
/* Two integers make a ratio, mostly. */
SCH_U __attribute__((noinline)) static V sch_div(V *sp, V a, V b) {
    double x, y;
    if (sch_doubles(a, b, &x, &y)) return sch_float(x / y);
    return sch_div_any(sp, a, b);
}

#define SCH_COMPARE(name, any, operator)                                          \
    bool sch_##name##_any(V *sp, V a, V b);                                       \
    SCH_U __attribute__((noinline)) static bool sch_##name##_slow(V *sp, V a, V b) { \
        if (SCH_LIKELY(sch_both_float(a, b))) return sch_float_value(a) operator sch_float_value(b); \
        return sch_##name##_any(sp, a, b);                                        \
    }                                                                             \
    static inline bool sch_##name(V *sp, V a, V b) {                              \
        if (SCH_LIKELY(sch_both_small(a, b))) return (int64_t)a operator (int64_t)b; \
        return sch_##name##_slow(sp, a, b);                                       \
    }
SCH_COMPARE(num_eq, num_eq, ==)
SCH_COMPARE(num_lt, num_lt, <)
SCH_COMPARE(num_gt, num_gt, >)
SCH_COMPARE(num_lt_eq, num_lt_eq, <=)
SCH_COMPARE(num_gt_eq, num_gt_eq, >=)

static inline bool sch_zero_p(V *sp, V a) { return sch_num_eq(sp, a, allod_small(0)); }
static inline bool sch_positive_p(V *sp, V a) { return sch_num_gt(sp, a, allod_small(0)); }
static inline bool sch_negative_p(V *sp, V a) { return sch_num_lt(sp, a, allod_small(0)); }
bool sch_odd_slow(V *sp, V a, const char *who);
static inline bool sch_odd_p(V *sp, V a) {
    return SCH_LIKELY(allod_is_small(a)) ? (a >> 3) & 1 : sch_odd_slow(sp, a, "odd?");
}
static inline bool sch_even_p(V *sp, V a) {
    return SCH_LIKELY(allod_is_small(a)) ? !((a >> 3) & 1) : !sch_odd_slow(sp, a, "even?");
}
V sch_quotient_any(V *sp, V a, V b);
V sch_remainder_any(V *sp, V a, V b);
V sch_modulo_any(V *sp, V a, V b);
V sch_floor_quotient(V *sp, V a, V b);
/* Divisors 0 and -1 are left to the library. */
static inline bool sch_easy_division(V a, V b) {
    return sch_both_small(a, b) && (uint64_t)(allod_small_value(b) + 1) > 1;
}
static inline V sch_quotient(V *sp, V a, V b) {
    if (SCH_LIKELY(sch_easy_division(a, b))) return allod_small(allod_small_value(a) / allod_small_value(b));
    return sch_quotient_any(sp, a, b);
}
static inline V sch_remainder(V *sp, V a, V b) {
    if (SCH_LIKELY(sch_easy_division(a, b))) return allod_small(allod_small_value(a) % allod_small_value(b));
    return sch_remainder_any(sp, a, b);
}
static inline V sch_modulo(V *sp, V a, V b) {
    if (SCH_LIKELY(sch_easy_division(a, b))) {
        int64_t d = allod_small_value(b), m = allod_small_value(a) % d;
        return allod_small(m != 0 && (m ^ d) < 0 ? m + d : m);
    }
    return sch_modulo_any(sp, a, b);
}
bool sch_number_slow(V a);
static inline bool sch_number_p(V a) { return allod_is_small(a) || sch_number_slow(a); }
bool sch_integer_p(V a);
bool sch_rational_p(V a);
bool sch_exact_p(V *sp, V a);
bool sch_inexact_p(V *sp, V a);
static inline bool sch_exact_integer_p(V a) { return allod_is_small(a) || sch_is(a, SCH_BIGNUM); }
bool sch_finite_p(V *sp, V a);
bool sch_infinite_p(V *sp, V a);
bool sch_nan_p(V *sp, V a);
V sch_abs(V *sp, V a);
V sch_max2(V *sp, V a, V b);
V sch_min2(V *sp, V a, V b);
V sch_gcd2(V *sp, V a, V b);
V sch_lcm2(V *sp, V a, V b);
V sch_numerator(V *sp, V a);
V sch_denominator(V *sp, V a);
V sch_floor(V *sp, V a);
V sch_ceiling(V *sp, V a);
V sch_truncate(V *sp, V a);
V sch_round(V *sp, V a);
V sch_rationalize(V *sp, V a, V b);
V sch_exp(V *sp, V a);
V sch_log(V *sp, V a, V b);
V sch_sin(V *sp, V a);
V sch_cos(V *sp, V a);
V sch_tan(V *sp, V a);
V sch_asin(V *sp, V a);
V sch_acos(V *sp, V a);
V sch_atan(V *sp, V a, V b);
V sch_sqrt(V *sp, V a);
V sch_exact_integer_sqrt(V *sp, V a);
V sch_expt(V *sp, V a, V b);
V sch_exact(V *sp, V a);
V sch_inexact(V *sp, V a);
V sch_number_to_string(V *sp, V a, V radix);
V sch_string_to_number(V *sp, V text, V radix);

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
bool sch_char_alphabetic_p(V *sp, V c);
bool sch_char_numeric_p(V *sp, V c);
bool sch_char_whitespace_p(V *sp, V c);
bool sch_char_upper_case_p(V *sp, V c);
bool sch_char_lower_case_p(V *sp, V c);
V sch_char_upcase(V *sp, V c);
V sch_char_downcase(V *sp, V c);
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
static inline V sch_record(size_t n, const V *all) {
    uint64_t *p = sch_alloc(SCH_RECORD, n, n);
    memcpy(p + 1, all, 8 * n);
    return (V)p;
}
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
    uint64_t *p = sch_alloc(SCH_PROMISE, 1, 0);
    p[1] = ALLOD_FALSE;
    uint64_t *content = sch_alloc(ALLOD_PAIR, 2, 0);
    content[1] = done;
    content[2] = value;
    p[1] = (V)content;
    return (V)p;
}
static inline bool sch_promise_done_p(V p) { return sch_object(sch_object(p)[1])[1] != ALLOD_FALSE; }
static inline V sch_promise_value(V p) { return sch_object(sch_object(p)[1])[2]; }
static inline void sch_promise_set_x(V p, V done, V value) {
    sch_object(sch_object(p)[1])[1] = done;
    sch_object(sch_object(p)[1])[2] = value;
}
static inline void sch_promise_share_x(V p, V other) { sch_object(other)[1] = sch_object(p)[1]; }

/* ---- Errors as objects ------------------------------------------------------------------------------ */

V sch_make_error(V kind, V message, V irritants);
bool sch_error_object_p(V v);
V sch_error_object_message(V *sp, V v);
V sch_error_object_irritants(V *sp, V v);
bool sch_file_error_p(V v);
bool sch_read_error_p(V v);
void sch_uncaught(V *sp, V v);
void sch_handler_returned(V *sp, V v);
void sch_fail_type(V *sp, V who, V which, V what, V is);

/* ---- Ports -------------------------------------------------------------------------------------------- */

V sch_standard_port(V which);
bool sch_input_port_p(V v);
bool sch_output_port_p(V v);
bool sch_textual_port_p(V v);
bool sch_binary_port_p(V v);
bool sch_port_open_p(V *sp, V port, V input);
V sch_open_file(V *sp, V name, V mode);
V sch_open_input_string(V *sp, V text);
V sch_open_input_bytevector(V *sp, V bytes);
V sch_open_output(V binary);
V sch_get_output_string(V *sp, V port);
V sch_get_output_bytevector(V *sp, V port);
void sch_close_port(V *sp, V port, V which);
V sch_read_char(V *sp, V port);
V sch_peek_char(V *sp, V port);
bool sch_char_ready_p(V *sp, V port);
V sch_read_line(V *sp, V port);
V sch_read_string(V *sp, V k, V port);
V sch_read_u8(V *sp, V port);
V sch_peek_u8(V *sp, V port);
V sch_read_bytevector(V *sp, V k, V port);
V sch_read_bytevector_x(V *sp, V bytes, V port, V start, V end);
V sch_read(V *sp, V port);
void sch_write(V *sp, V v, V port, V how);
void sch_write_char(V *sp, V c, V port);
void sch_write_string(V *sp, V s, V port, V start, V end);
void sch_write_u8(V *sp, V byte, V port);
void sch_write_bytevector(V *sp, V bytes, V port, V start, V end);
void sch_newline(V *sp, V port);
void sch_flush(V *sp, V port);

/* ---- The system ------------------------------------------------------------------------------------------ */

bool sch_file_exists_p(V *sp, V name);
void sch_delete_file(V *sp, V name);
V sch_command_line(void);
void sch_exit(V code, V quick);
V sch_get_environment_variable(V *sp, V name);
V sch_get_environment_variables(void);
V sch_current_second(void);
V sch_current_jiffy(void);
V sch_jiffies_per_second(void);

#include "scopes.h"
#include "checked.h"
#include "proven.h"

#endif
