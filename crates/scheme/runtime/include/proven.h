/* proven.h - what primitives become where the compiler has proven types: the checks that are left, if any.
 */
#ifndef SCHEME_PROVEN_H
#define SCHEME_PROVEN_H

/* ---- Pairs, vectors, strings, records --------------------------------------------------------- */

static inline V sch_pair_car(V x) {
    SCH_PROVEN(sch_pair_p(x), x);
    return SCH_CAR(x);
}
static inline V sch_pair_cdr(V x) {
    SCH_PROVEN(sch_pair_p(x), x);
    return SCH_CDR(x);
}
static inline void sch_pair_set_car_x(V x, V v) {
    SCH_PROVEN(sch_pair_p(x) && !sch_is_constant(x), x);
    SCH_CAR(x) = v;
}
static inline void sch_pair_set_cdr_x(V x, V v) {
    SCH_PROVEN(sch_pair_p(x) && !sch_is_constant(x), x);
    SCH_CDR(x) = v;
}

/* Indices are small integers, and not negative. */
static inline V sch_vector_size(V v) {
    SCH_PROVEN(sch_vector_p(v), v);
    return allod_small((int64_t)sch_len(v));
}
static inline V sch_vector_at(V *sp, V v, V i) {
    SCH_PROVEN(sch_vector_p(v), v);
    SCH_PROVEN(sch_index_p(i), i);
    if (SCH_UNLIKELY(i >> 3 >= sch_len(v))) sch_range_error(sp, "vector-ref", 2, i);
    return sch_object(v)[1 + (i >> 3)];
}
static inline void sch_vector_put_x(V *sp, V v, V i, V x) {
    SCH_PROVEN(sch_vector_p(v) && !sch_is_constant(v), v);
    SCH_PROVEN(sch_index_p(i), i);
    if (SCH_UNLIKELY(i >> 3 >= sch_len(v))) sch_range_error(sp, "vector-set!", 2, i);
    sch_object(v)[1 + (i >> 3)] = x;
}
static inline V sch_string_size(V s) {
    SCH_PROVEN(sch_string_p(s), s);
    return allod_small((int64_t)sch_len(s));
}
static inline V sch_string_at(V *sp, V s, V i) {
    SCH_PROVEN(sch_string_p(s), s);
    SCH_PROVEN(sch_index_p(i), i);
    if (SCH_UNLIKELY(i >> 3 >= sch_len(s))) sch_range_error(sp, "string-ref", 2, i);
    return allod_char(sch_chars(s)[i >> 3]);
}
static inline V sch_byte_at(V *sp, V b, V i) {
    SCH_PROVEN(sch_bytevector_p(b), b);
    SCH_PROVEN(sch_index_p(i), i);
    if (SCH_UNLIKELY(i >> 3 >= sch_len(b))) sch_range_error(sp, "bytevector-u8-ref", 2, i);
    return allod_small(((uint8_t *)(sch_object(b) + 1))[i >> 3]);
}
static inline V sch_field(V v, V i) {
    SCH_PROVEN(sch_any_record_p(v), v);
    return sch_object(v)[2 + (i >> 3)];
}
static inline void sch_field_set_x(V v, V i, V x) {
    SCH_PROVEN(sch_any_record_p(v), v);
    sch_object(v)[2 + (i >> 3)] = x;
}

/* ---- Small integers ------------------------------------------------------------------------------ */

/* The result is small, too. */
static inline V sch_fxadd(V a, V b) {
    SCH_PROVEN_SMALL(a, b, !__builtin_add_overflow((int64_t)a, (int64_t)(b - 1), &(int64_t){0}));
    return a + b - 1;
}
static inline V sch_fxsub(V a, V b) {
    SCH_PROVEN_SMALL(a, b, !__builtin_sub_overflow((int64_t)a, (int64_t)(b - 1), &(int64_t){0}));
    return a - b + 1;
}
static inline V sch_fxmul(V a, V b) {
    SCH_PROVEN_SMALL(a, b, !__builtin_mul_overflow((int64_t)(a - 1), (int64_t)b >> 3, &(int64_t){0}));
    return (a - 1) * (V)((int64_t)b >> 3) + 1;
}
#define SCH_SMALL_COMPARE(name, operator)              \
    static inline bool sch_fx_##name(V a, V b) {       \
        SCH_PROVEN_SMALL(a, b, true);                  \
        return (int64_t)a operator (int64_t)b;         \
    }
SCH_SMALL_COMPARE(eq, ==)
SCH_SMALL_COMPARE(lt, <)
SCH_SMALL_COMPARE(gt, >)
SCH_SMALL_COMPARE(lt_eq, <=)
SCH_SMALL_COMPARE(gt_eq, >=)
/* Divisors are positive. */
static inline V sch_fxquotient(V a, V b) {
    SCH_PROVEN_SMALL(a, b, allod_small_value(b) > 0);
    return allod_small(allod_small_value(a) / allod_small_value(b));
}
static inline V sch_fxremainder(V a, V b) {
    SCH_PROVEN_SMALL(a, b, allod_small_value(b) > 0);
    return allod_small(allod_small_value(a) % allod_small_value(b));
}
static inline V sch_fxmodulo(V a, V b) {
    SCH_PROVEN_SMALL(a, b, allod_small_value(b) > 0);
    int64_t m = allod_small_value(a) % allod_small_value(b);
    return allod_small(m < 0 ? m + allod_small_value(b) : m);
}
/* The result may be large. */
static inline V sch_fixadd(V *sp, V a, V b) {
    SCH_PROVEN_SMALL(a, b, true);
    int64_t r;
    return SCH_LIKELY(!__builtin_add_overflow((int64_t)a, (int64_t)(b - 1), &r)) ? (V)r : sch_add_slow(sp, a, b);
}
static inline V sch_fixsub(V *sp, V a, V b) {
    SCH_PROVEN_SMALL(a, b, true);
    int64_t r;
    return SCH_LIKELY(!__builtin_sub_overflow((int64_t)a, (int64_t)(b - 1), &r)) ? (V)r : sch_sub_slow(sp, a, b);
}

/* ---- Flonums without a box ----------------------------------------------------------------------- */

/* In the registers of a call, a double is its bits. */
static inline double sch_double(V bits) {
    double d;
    memcpy(&d, &bits, 8);
    return d;
}
static inline V sch_bits(double d) {
    V bits;
    memcpy(&bits, &d, 8);
    return bits;
}
static inline V sch_flonum(double d) { return sch_float(d); }
static inline double sch_flonum_value(V v) {
    SCH_PROVEN(sch_float_p(v), v);
    return sch_float_value(v);
}
static inline double sch_fx_to_fl(V v) {
    SCH_PROVEN_SMALL(v, v, true);
    return (double)allod_small_value(v);
}
/* As what is added: an exact zero is -0.0, which changes nothing. */
static inline double sch_fx_to_addend(V v) {
    SCH_PROVEN_SMALL(v, v, true);
    return -(double)-allod_small_value(v);
}
double sch_real_slow(V *sp, V v, V who, V which);
static inline double sch_real_to_fl(V *sp, V v, V who, V which) {
    if (SCH_LIKELY(sch_float_p(v))) return sch_float_value(v);
    if (SCH_LIKELY(allod_is_small(v))) return sch_fx_to_fl(v);
    return sch_real_slow(sp, v, who, which);
}
static inline double sch_real_to_addend(V *sp, V v, V who, V which) {
    if (SCH_LIKELY(sch_float_p(v))) return sch_float_value(v);
    if (SCH_LIKELY(allod_is_small(v))) return sch_fx_to_addend(v);
    return sch_real_slow(sp, v, who, which);
}
static inline V sch_fl_to_exact(V *sp, double d) {
    if (SCH_LIKELY(d > -1e18 && d < 1e18) && (double)(int64_t)d == d) return allod_small((int64_t)d);
    return sch_exact(sp, sch_float(d));
}
static inline double sch_fladd(double a, double b) { return a + b; }
static inline double sch_flsub(double a, double b) { return a - b; }
static inline double sch_flmul(double a, double b) { return a * b; }
static inline double sch_fldiv(double a, double b) { return a / b; }
static inline bool sch_fl_eq(double a, double b) { return a == b; }
static inline bool sch_fl_lt(double a, double b) { return a < b; }
static inline bool sch_fl_gt(double a, double b) { return a > b; }
static inline bool sch_fl_lt_eq(double a, double b) { return a <= b; }
static inline bool sch_fl_gt_eq(double a, double b) { return a >= b; }
/* What is no number stays so. */
static inline double sch_flmax(double a, double b) { return a != a ? a : a > b ? a : b; }
static inline double sch_flmin(double a, double b) { return a != a ? a : a < b ? a : b; }
static inline double sch_flabs(double d) { return __builtin_fabs(d); }
static inline double sch_flfloor(double d) { return __builtin_floor(d); }
static inline double sch_flceiling(double d) { return __builtin_ceil(d); }
static inline double sch_fltruncate(double d) { return __builtin_trunc(d); }
static inline double sch_flround(double d) { return __builtin_rint(d); }
static inline double sch_flsqrt(V *sp, double d) {
    if (SCH_UNLIKELY(d < 0)) sch_sqrt(sp, sch_float(d));
    return __builtin_sqrt(d);
}
static inline double sch_flexp(double d) { return __builtin_exp(d); }
static inline double sch_flsin(double d) { return __builtin_sin(d); }
static inline double sch_flcos(double d) { return __builtin_cos(d); }
static inline double sch_fltan(double d) { return __builtin_tan(d); }
static inline double sch_flatan(double d) { return __builtin_atan(d); }
static inline double sch_flatan2(double y, double x) { return __builtin_atan2(y, x); }

#endif
