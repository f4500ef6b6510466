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

#define SCH_UNSPECIFIED ALLOD_UNSPECIFIED
#define SCH_EOF ALLOD_EOF
#define SCH_UNBOUND ALLOD_UNBOUND

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
    SCH_ERROR,       /* kind, message, irritants                            */
    SCH_POINTER      /* address, of C                                       */
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

#include "apart.h"
SCH_APART1(void, sch_safe_point_apart, sch_safe_point, V *)
SCH_APART1(void *, sch_alloc_apart, sch_alloc_slow, size_t)

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
/* An object with a header: any but a pair. No value is 0, so one test is enough. */
static inline bool sch_is_object(V v) { return (v & 7) == 0; }
static inline bool sch_is_object_or_pair(V v) { return (v & 3) == 0; }
static inline bool sch_is(V v, uint32_t type) {
    return sch_is_object(v) && (uint16_t)*sch_object(v) == (uint16_t)ALLOD_HEADER(type, 0);
}
static inline bool sch_pair_p(V v) { return (v & 7) == 4; }
#define SCH_CAR(pair) (allod_pair_slots(pair)[0])
#define SCH_CDR(pair) (allod_pair_slots(pair)[1])
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
    size_t bytes = 8 + 8 * words;
    char *p = r->cursor;
    if (SCH_UNLIKELY((uintptr_t)p + bytes > (uintptr_t)r->limit))
        p = (char *)sch_alloc_apart(bytes);
    else
        r->cursor = p + bytes;
    *(uint64_t *)p = ALLOD_HEADER(type, len);
    return (uint64_t *)p;
}

#ifdef SCH_CONSTRUCTORS
#include "constructors.h"
#else
static inline bool sch_poll(void) { return sch_rt.poll; }
static inline V sch_pair_at(uint64_t *p, V a, V d) {
    p[0] = a;
    p[1] = d;
    return allod_pair_value(p);
}
/* Takes what the pair holds, so that its caller keeps neither meanwhile. */
SCH_U SCH_COLD static V sch_cons_slow(V a, V d) { return sch_pair_at(sch_alloc_apart(16), a, d); }
static inline V sch_cons(V a, V d) {
    allod_region *r = sch_rt.region;
    char *p = r->cursor;
    if (SCH_UNLIKELY((uintptr_t)p + 16 > (uintptr_t)r->limit)) return sch_cons_slow(a, d);
    r->cursor = p + 16;
    return sch_pair_at((uint64_t *)p, a, d);
}
static inline V sch_float(double f) {
    uint64_t *p = sch_alloc(ALLOD_FLOAT, 1, 0);
    memcpy(p + 1, &f, 8);
    return (V)p;
}
/* An integer of 64 bits that a word has no room for. */
static inline V sch_wide(int64_t i) {
    uint64_t *p = sch_alloc(SCH_BIGNUM, 2, 2);
    p[1] = i < 0;
    p[2] = i < 0 ? -(uint64_t)i : (uint64_t)i;
    return (V)p;
}
/* What has `n` values, which the caller then stores. */
static inline V sch_new_vector(size_t n) { return (V)sch_alloc(ALLOD_ARRAY, n, n); }
static inline V sch_new_values(size_t n) { return (V)sch_alloc(SCH_VALUES, n, n); }
static inline V sch_new_record(size_t n) { return (V)sch_alloc(SCH_RECORD, n, n); }
static inline V sch_closure(sch_code code, size_t n) {
    uint64_t *p = sch_alloc(ALLOD_CLOSURE, 1 + n, n);
    p[1] = (uint64_t)code;
    return (V)p;
}
static inline V sch_box(V v) {
    uint64_t *p = sch_alloc(ALLOD_BOX, 1, 0);
    p[1] = v;
    return (V)p;
}
#endif

static inline double sch_float_value(V v) {
    double f;
    memcpy(&f, sch_object(v) + 1, 8);
    return f;
}
#define SCH_ITEM(v, i) (sch_object(v)[1 + (i)])
#define SCH_CAPTURED(closure, i) (sch_object(closure)[2 + (i)])

/* The same of arguments side by side. */
static inline V sch_filled(V v, size_t n, const V *all) {
    memcpy(sch_object(v) + 1, all, 8 * n);
    return v;
}
static inline V sch_vector(size_t n, const V *all) { return sch_filled(sch_new_vector(n), n, all); }
static inline V sch_values(size_t n, const V *all) { return n == 1 ? all[0] : sch_filled(sch_new_values(n), n, all); }

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

#include "numbers.h"
#include "data.h"
#include "library.h"
#include "scopes.h"
#include "checked.h"
#include "proven.h"

#endif
