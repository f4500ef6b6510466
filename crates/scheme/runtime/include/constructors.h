/* constructors.h - what makes objects in programs compiled with --codegen=constructors: calls of allod/region.h's
 * constructors, which find the size of an object in the record of its type. A compiler that knows no types
 * when it emits C would call them. Typed allocation, in scheme.h, is an inlined bump with constants instead.
 */
#ifndef SCHEME_CONSTRUCTORS_H
#define SCHEME_CONSTRUCTORS_H

/* The limit of the region's chunk when its memory was last counted. */
SCH_U static char *sch_counted;

void sch_recount(void);
SCH_U SCH_COLD static bool sch_grew(void) {
    sch_counted = sch_rt.region->limit;
    sch_recount();
    return sch_rt.poll;
}
/* Constructors tell nobody of new chunks, so each safe point looks for one. */
static inline bool sch_poll(void) {
    return sch_rt.poll || (SCH_UNLIKELY(sch_rt.region->limit != sch_counted) && sch_grew());
}

static inline V sch_made(V v) {
    if (SCH_UNLIKELY(v == ALLOD_EMPTY)) sch_alloc_slow(PTRDIFF_MAX & ~(size_t)7); /* says that memory is out */
    return v;
}
static inline V sch_new(uint32_t type, size_t n) { return sch_made(allod_mk_object(sch_rt.region, type, n)); }

static inline V sch_cons(V a, V d) { return sch_made(allod_mk_pair(sch_rt.region, a, d)); }
static inline V sch_float(double f) { return sch_made(allod_mk_float(sch_rt.region, f)); }
static inline V sch_box(V v) { return sch_made(allod_mk_box(sch_rt.region, v)); }
static inline V sch_new_vector(size_t n) { return sch_made(allod_mk_array(sch_rt.region, n, ALLOD_NIL)); }
static inline V sch_new_values(size_t n) { return sch_new(SCH_VALUES, n); }
static inline V sch_new_record(size_t n) { return sch_new(SCH_RECORD, n); }
static inline V sch_closure(sch_code code, size_t n) {
    V v = sch_new(ALLOD_CLOSURE, n);
    sch_object(v)[1] = (uint64_t)code;
    return v;
}
static inline V sch_wide(int64_t i) {
    V v = sch_new(SCH_BIGNUM, 2);
    sch_object(v)[1] = i < 0;
    sch_object(v)[2] = i < 0 ? -(uint64_t)i : (uint64_t)i;
    return v;
}

/* A symbol that the program names. */
static inline V sch_symbol(const char *name, size_t n) { return sch_made(allod_symbol(name, n)); }

#endif
