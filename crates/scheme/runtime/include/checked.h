/* checked.h - what programs compiled with --checked test of the compiler itself: that values have the types it
 * inferred. In all others the tests are nothing.
 */
#ifndef SCHEME_CHECKED_H
#define SCHEME_CHECKED_H

#ifdef SCH_CHECKED
#include <stdio.h>
#include <stdlib.h>

__attribute__((cold, noreturn)) SCH_U static void sch_not_inferred(const char *claim, V is) {
    fprintf(stderr, "internal error: %s was inferred, but it is %#llx\n", claim, (unsigned long long)is);
    abort();
}
/* What the compiler has proven where it chose a primitive of proven.h. */
#define SCH_PROVEN(holds, v) (SCH_LIKELY(holds) ? (void)0 : sch_not_inferred(#holds, v))
#define SCH_PROVEN_SMALL(a, b, holds) SCH_PROVEN(sch_both_small(a, b) && (holds), a)

/* An index of a vector or string: a small integer, and not negative. */
static inline bool sch_index_p(V i) { return (i & 1) && (int64_t)i > 0; }
static inline bool sch_true_p(V v) { return v == ALLOD_TRUE; }
static inline bool sch_ratio_p(V v) { return sch_is(v, SCH_RATIO); }
static inline bool sch_any_record_p(V v) { return sch_is(v, SCH_RECORD); }
/* An exact integer between two; INT64_MIN and INT64_MAX stand for no bound. */
static inline bool sch_int_between(V v, int64_t least, int64_t most) {
    if (v & 1) return allod_small_value(v) >= least && allod_small_value(v) <= most;
    return sch_is(v, SCH_BIGNUM) && (sch_object(v)[1] ? least == INT64_MIN : most == INT64_MAX);
}
/* What is of no kind that has a name in the compiler. */
static inline bool sch_other_p(V v) {
    if (sch_pair_p(v)) return false;
    if (!sch_is_object(v)) return !(v & 1) && !sch_null_p(v) && !sch_boolean_p(v) && !sch_char_p(v);
    return !(sch_is(v, SCH_BIGNUM) || sch_ratio_p(v) || sch_float_p(v) || sch_string_p(v) ||
             sch_symbol_p(v) || sch_vector_p(v) || sch_bytevector_p(v) || sch_procedure_p(v) ||
             sch_any_record_p(v));
}
#else
#define SCH_PROVEN(holds, v) ((void)0)
#define SCH_PROVEN_SMALL(a, b, holds) ((void)0)
#endif

#endif
