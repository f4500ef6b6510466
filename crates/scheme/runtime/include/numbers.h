/* numbers.h - arithmetic: small integers here, flonums in a call, all else in the library.
 */
#ifndef SCHEME_NUMBERS_H
#define SCHEME_NUMBERS_H

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
    SCH_APART3(V, sch_##name##_apart, sch_##name##_any, V *, V, V)                \
    SCH_U __attribute__((noinline)) static V sch_##name##_slow(V *sp, V a, V b) { \
        double x, y;                                                              \
        int64_t i;                                                                \
        if (sch_both_small(a, b) &&                                               \
            !__builtin_##name##_overflow(allod_small_value(a), allod_small_value(b), &i)) return sch_wide(i); \
        /* An exact zero, which is 1, has no sign. */                             \
        if (a != 1 && b != 1 && sch_doubles(a, b, &x, &y)) return sch_float(x operator y); \
        return sch_##name##_apart(sp, a, b);                                      \
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
    SCH_APART3(sch_truth, sch_##name##_apart, sch_##name##_any, V *, V, V)        \
    SCH_U __attribute__((noinline)) static bool sch_##name##_slow(V *sp, V a, V b) { \
        if (SCH_LIKELY(sch_both_float(a, b))) return sch_float_value(a) operator sch_float_value(b); \
        return sch_##name##_apart(sp, a, b);                                      \
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
V sch_expt_any(V *sp, V a, V b);
/* Of powers most are of two. */
static inline V sch_expt(V *sp, V a, V b) {
    if (a == allod_small(2) && allod_is_small(b) && b < allod_small(60)) return allod_small((int64_t)1 << allod_small_value(b));
    return sch_expt_any(sp, a, b);
}
V sch_exact(V *sp, V a);
V sch_inexact(V *sp, V a);
V sch_number_to_string(V *sp, V a, V radix);
V sch_string_to_number(V *sp, V text, V radix);

#endif
