/* allod/region.h - regions: memory for typed objects that is freed all at once.
 *
 * For compilers that emit C and for runtimes written in it. docs/regions.md says what to emit, which
 * lifetimes to choose, and what is promised.
 *
 * Common to all functions, unless stated otherwise:
 *   - a region belongs to the thread that created or adopted it; only that thread allocates, stores,
 *     exits and retains, until allod_region_share or allod_region_freeze;
 *   - a function that returns a value returns ALLOD_EMPTY, and one that returns a pointer NULL, with errno
 *     ENOMEM, when memory is out or a size exceeds PTRDIFF_MAX; nothing is left half built;
 *   - a function that returns bool returns false on failure, and has then changed nothing;
 *   - values given to constructors must live at least as long as the region they go into (the closure
 *     rule); stores into objects go through allod_store.
 *
 * C11 or later, C++17 or later; 64-bit Linux. Link with liballod.
 */
#ifndef ALLOD_REGION_H
#define ALLOD_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Values --------------------------------------------------------------------------------- */

/* One word: the address of a pair or of another object, or an immediate that needs no memory.
 *   ...000  address of an object          ...001  integer of 61 bits
 *   ...100  address of a pair             ...010  nil, false, true, characters
 *   0       no value ("empty")
 * A pair is two values and nothing else; all other objects begin with a header. Whether a value is a pair shows
 * without a look at memory. */
typedef uint64_t allod_value;

#define ALLOD_EMPTY ((allod_value)0)
#define ALLOD_NIL ((allod_value)0x02)
#define ALLOD_FALSE ((allod_value)0x0A)
#define ALLOD_TRUE ((allod_value)0x12)
/* Reserved for what a language has no value for: no result, the end of a file, a variable without a value. */
#define ALLOD_UNSPECIFIED ((allod_value)0x22)
#define ALLOD_EOF ((allod_value)0x2A)
#define ALLOD_UNBOUND ((allod_value)0x32)

/* An integer from -2^60 to 2^60 - 1; larger ones are truncated. See allod_int for all 64-bit integers. */
static inline allod_value allod_small(int64_t i) { return (allod_value)i << 3 | 1; }
static inline bool allod_is_small(allod_value v) { return (v & 7) == 1; }
static inline int64_t allod_small_value(allod_value v) { return (int64_t)v >> 3; }
static inline allod_value allod_bool(bool b) { return b ? ALLOD_TRUE : ALLOD_FALSE; }
static inline allod_value allod_char(uint32_t c) { return (allod_value)c << 8 | 0x1A; }
static inline bool allod_is_char(allod_value v) { return (v & 0xFF) == 0x1A; }
static inline uint32_t allod_char_value(allod_value v) { return (uint32_t)(v >> 8); }
static inline bool allod_is_nil(allod_value v) { return v == ALLOD_NIL; }
static inline bool allod_is_bool(allod_value v) { return v == ALLOD_FALSE || v == ALLOD_TRUE; }
/* An object, pairs among them. */
static inline bool allod_is_object(allod_value v) { return (v & 3) == 0 && v != 0; }
/* An object that begins with a header: any but a pair. */
static inline bool allod_is_headed(allod_value v) { return (v & 7) == 0 && v != 0; }
static inline bool allod_is_pair(allod_value v) { return (v & 7) == 4; }
/* An object that is no pair, and its value. */
static inline uint64_t *allod_object(allod_value v) { return (uint64_t *)(uintptr_t)v; }
static inline allod_value allod_object_value(const void *p) { return (allod_value)(uintptr_t)p; }
/* A pair's two values, and the pair that they are. A constant pair is static data of two words, aligned to 8. */
static inline allod_value *allod_pair_slots(allod_value v) { return (allod_value *)(uintptr_t)(v - 4); }
static inline allod_value allod_pair_value(const void *p) { return (allod_value)(uintptr_t)p + 4; }

/* ---- Types ---------------------------------------------------------------------------------- */

/* The header, the first word of an object that is no pair: length << 16 | type << 2 | 3. */
#define ALLOD_HEADER(type, len) ((uint64_t)(len) << 16 | (uint64_t)(type) << 2 | 3)

enum {
    ALLOD_INT = 1,     /* 8 bytes: int64_t                                    */
    ALLOD_FLOAT = 2,   /* 8 bytes: double                                     */
    ALLOD_PAIR = 3,    /* two values, without a header                        */
    ALLOD_SYMBOL = 4,  /* a hash, then length bytes                           */
    ALLOD_STRING = 5,  /* length bytes, UTF-8                                 */
    ALLOD_BYTES = 6,   /* length bytes                                        */
    ALLOD_ARRAY = 7,   /* length values                                       */
    ALLOD_DICT = 8,    /* only through the allod_dict functions               */
    ALLOD_TABLE = 9,   /* part of a dictionary                                */
    ALLOD_BOX = 10,    /* one value                                           */
    ALLOD_CLOSURE = 11 /* a code address, then length values                  */
};

/* The type of an object; 0 for immediates and the empty value. */
static inline uint32_t allod_type_of(allod_value v) {
    if (allod_is_pair(v)) return ALLOD_PAIR;
    return allod_is_headed(v) ? (uint32_t)(*allod_object(v) & 0xFFFF) >> 2 : 0;
}
/* Whether a value is an object of a type: ALLOD_PAIR, ALLOD_STRING, one of your own. Integers may also be
 * immediates, see allod_is_int. */
static inline bool allod_is(allod_value v, uint32_t type) {
    if (type == ALLOD_PAIR) return allod_is_pair(v);
    return allod_is_headed(v) && (uint16_t)*allod_object(v) == (uint16_t)ALLOD_HEADER(type, 0);
}
static inline bool allod_is_int(allod_value v) { return allod_is_small(v) || allod_is(v, ALLOD_INT); }
/* The length in the header of an object that is no pair: elements, captured values, bytes of a string or a name. */
static inline size_t allod_len(allod_value v) { return (size_t)(*allod_object(v) >> 16); }

typedef void (*allod_visit_fn)(void *context, allod_value *slot);

enum { ALLOD_TAIL_NONE = 0, ALLOD_TAIL_PLAIN = 1, ALLOD_TAIL_VALUES = 2 };

/* The record of a type. The name lives as long as the process; everything else is copied. */
typedef struct allod_type {
    const char *name;
    uint32_t size;      /* bytes of the fixed part with the header, a multiple of 8          */
    uint32_t align;     /* of the object, a power of two from 8 to 65536                     */
    uint64_t map;       /* bit i: word i after the header is a value                         */
    uint32_t tail;      /* what follows the fixed part, `length` times                       */
    uint32_t tail_size; /* bytes of a plain tail's element                                   */
    size_t (*size_of)(const uint64_t *object);                                    /* or NULL */
    void (*trace)(uint64_t *object, allod_visit_fn visit, void *context);         /* or NULL */
} allod_type;

/* Types whose alignment is above 8 have ids from here on, so that typed allocation knows them. */
#define ALLOD_FIRST_ALIGNED 14336

/* Registers a type for the whole process and returns its id; 0 with errno EINVAL for an inconsistent
 * record, ENOMEM when there are 14324 types with an alignment of 8, or 2048 with a larger one. Thread-safe.
 * Call it once for each type.
 *
 * The places of an object's values are given in one of three ways, or several together:
 *   - `map`: the words of the fixed part that are values;
 *   - `tail` ALLOD_TAIL_VALUES: the fixed part is followed by as many values as the header's length;
 *   - `trace`, for irregular types: a function that calls `visit(context, slot)` for each slot that
 *     currently holds a value. It may be called for a copy of the object at another address, so it must
 *     find the slots from `object` alone. With `size_of`, which returns the object's size including its
 *     header, an object may have any length. Neither function may allocate.
 * A slot may hold ALLOD_EMPTY. */
uint32_t allod_type_register(const allod_type *type);

/* Ids are given in order, those of types whose alignment is 8 from ALLOD_FIRST_TYPE on. So a program that registers
 * its types before any other does knows their ids as constants, and typed allocation, tests and stores of headers
 * need no loads. Registers `count` types and checks that they have the ids `first`, `first` + 1, …; false with EEXIST
 * when others were registered before, and otherwise as for allod_type_register. */
enum { ALLOD_FIRST_TYPE = 12 };
bool allod_types_register(const allod_type *types, size_t count, uint32_t first);

/* ---- A region's life -------------------------------------------------------------------------- */

/* The fields that the inlined functions use; the rest is the library's. */
typedef struct allod_region {
    char *cursor;
    char *limit;
} allod_region;

/* Opens a region for the calling thread: about 2 ns from its pool. NULL when memory is out. */
allod_region *allod_region_create(void);
/* Opens a region whose parent outlives it, so that the parent's values may be stored in it. */
allod_region *allod_region_create_in(allod_region *parent);
/* Leaves the scope. Without references and tethers the region returns to the pool at once, otherwise with
 * the last of them. */
void allod_region_exit(allod_region *r);
/* Leaves the scope; of the region's objects only those reachable from the `count` roots survive, in `heir`.
 * The roots become the survivors. A few survivors are copied; many change hands with the memory. On false
 * (ENOMEM, or EPERM when the heir is frozen) the region is still open. */
bool allod_region_exit_with(allod_region *r, allod_region *heir, allod_value *roots, size_t count);
/* Leaves the scope of `inner` and of all regions it was created in up to `outer`, which stays open: for escapes that
 * skip the ends of scopes (longjmp, exceptions of a compiled language). `inner` may be `outer`. False, with nothing
 * changed, when `inner` was not created in `outer` nor in what was. */
bool allod_region_exit_to(allod_region *inner, allod_region *outer);

/* Values that are alive, one such record for each function that has some: a list from the innermost on, kept on the
 * stack of C. Empty and immediate values, and values of other regions, are passed over. */
typedef struct allod_roots {
    struct allod_roots *next;
    size_t count;
    allod_value *values;
} allod_roots;
/* Frees what the roots do not reach: what they reach moves to new memory of the same region, whose address stays, and
 * the roots become the moved values; all other values of the region are gone. Takes the time of moving what is
 * reached. False with EBUSY, and nothing changed, when references, tethers or regions inside it hold the region, or it
 * is shared or merged: then its objects may not move; also with EPERM (frozen) and ENOMEM. */
bool allod_region_evacuate(allod_region *r, const allod_roots *roots);
/* A reference keeps the region beyond its scope. Plain until the region is shared, then atomic. */
void allod_region_retain(allod_region *r);
void allod_region_release(allod_region *r);
/* A bounded borrow, ended by the thread that began it; nests. A plain increment for the owner, an atomic
 * one for other threads. Exit does not wait: the last untether completes it. */
void allod_region_tether(allod_region *r);
void allod_region_untether(allod_region *r);
/* Makes the counts atomic, before any other thread sees the region. */
void allod_region_share(allod_region *r);
/* Makes the region read-only for good, and shares it. Stores into it, copies to it and leaving a scope with survivors
 * for it fail with EPERM from then on, an allocation with ENOMEM; it keeps no further regions and is merged into none. */
void allod_region_freeze(allod_region *r);
/* From now on `other` outlives `r`, which holds a reference to it. */
bool allod_region_keep(allod_region *r, allod_region *other);
/* `r`'s memory goes to `heir` when `r` ends; its objects count as the heir's at once. */
bool allod_region_merge(allod_region *r, allod_region *heir);
/* allod_region_merge and allod_region_exit: constant cost for any number of objects. */
bool allod_region_splice(allod_region *r, allod_region *heir);
/* Hand a region that nothing else holds to another thread: detach here, adopt there. */
bool allod_region_detach(allod_region *r);
void allod_region_adopt(allod_region *r);
/* The region whose memory holds `p`; NULL for symbols, immediates and everything else. No other thread may
 * end that region meanwhile. */
allod_region *allod_region_of(const void *p);
/* True when `a` lives at least as long as `b`. */
bool allod_region_outlives(allod_region *a, allod_region *b);

typedef struct allod_region_accounting {
    size_t live;        /* bytes of objects                                   */
    size_t peak;        /* the maximum of live so far                         */
    size_t chunks;      /* chunks held                                        */
    size_t chunk_bytes; /* their bytes                                        */
    size_t inline_used; /* bytes in use of the 512 in the inline buffer       */
    size_t repairs;     /* stores that the barrier repaired                   */
} allod_region_accounting;
allod_region_accounting allod_region_account(const allod_region *r);

/* ---- Allocation ------------------------------------------------------------------------------- */

/* Called by the inlined functions when a block does not fit. */
void *allod_region_alloc_slow(allod_region *r, size_t size, size_t align);

/* `size` bytes aligned to 8: a comparison and an addition. */
static inline void *allod_region_alloc(allod_region *r, size_t size) {
    char *p = r->cursor;
    if (__builtin_expect(size > (size_t)(r->limit - p) || size > PTRDIFF_MAX, 0))
        return allod_region_alloc_slow(r, size, 8);
    r->cursor = p + ((size + 7) & ~(size_t)7);
    if (!p) __builtin_unreachable(); /* spares the callers' test on the straight line */
    return p;
}

/* The same for those who do not test the result: where memory is out the program ends, with a message or as the handler
 * ends it, which must not return. */
void allod_region_no_memory(size_t size) __attribute__((cold, noreturn));
void allod_region_on_no_memory(void (*handler)(size_t size));
static inline void *allod_region_need(allod_region *r, size_t size) {
    void *p = allod_region_alloc(r, size);
    if (__builtin_expect(p == NULL, 0)) allod_region_no_memory(size);
    return p;
}

/* `size` bytes at a multiple of `align`, a power of two up to 65536. */
static inline void *allod_region_alloc_aligned(allod_region *r, size_t size, size_t align) {
    return align <= 8 ? allod_region_alloc(r, size) : allod_region_alloc_slow(r, size, align);
}

/* Called by typed allocation for types whose alignment is above 8. */
void *allod_region_alloc_of_type(allod_region *r, uint32_t type, size_t size);

/* Typed allocation for types with a tail, not for pairs, which have no header: an object of `words` words after the header, the tail's included,
 * with its header written, at the alignment of its type. The caller writes the words before anything else
 * happens in the region. With constants this is a comparison, an addition and a store; your own types,
 * whose ids are variables, take one more comparison. NULL when memory is out. */
static inline uint64_t *allod_alloc_tailed(allod_region *r, uint32_t type, size_t words, size_t len) {
    uint64_t *p;
    if (__builtin_expect(words >= PTRDIFF_MAX / 16, 0))
        p = (uint64_t *)allod_region_alloc_slow(r, SIZE_MAX, 8); /* refuses */
    else if (__builtin_expect(type >= ALLOD_FIRST_ALIGNED, 0))
        p = (uint64_t *)allod_region_alloc_of_type(r, type, 8 + 8 * words);
    else
        p = (uint64_t *)allod_region_alloc(r, 8 + 8 * words);
    if (__builtin_expect(p != NULL, 1)) *p = ALLOD_HEADER(type, len);
    return p;
}

/* The same for types without a tail. */
static inline uint64_t *allod_alloc_typed(allod_region *r, uint32_t type, size_t words) {
    return allod_alloc_tailed(r, type, words, 0);
}

static inline allod_value allod_boxed_int(allod_region *r, int64_t i) {
    uint64_t *p = allod_alloc_typed(r, ALLOD_INT, 1);
    if (p) p[1] = (uint64_t)i;
    return allod_object_value(p);
}
/* An integer of any size: an immediate if it fits. */
static inline allod_value allod_int(allod_region *r, int64_t i) {
    return (int64_t)((uint64_t)i << 3) >> 3 == i ? allod_small(i) : allod_boxed_int(r, i);
}
static inline allod_value allod_float(allod_region *r, double f) {
    uint64_t *p = allod_alloc_typed(r, ALLOD_FLOAT, 1);
    if (p) memcpy(p + 1, &f, 8);
    return allod_object_value(p);
}
static inline allod_value allod_pair(allod_region *r, allod_value car, allod_value cdr) {
    uint64_t *p = (uint64_t *)allod_region_alloc(r, 16);
    if (__builtin_expect(p == NULL, 0)) return ALLOD_EMPTY;
    p[0] = car;
    p[1] = cdr;
    return allod_pair_value(p);
}
static inline allod_value allod_box(allod_region *r, allod_value v) {
    uint64_t *p = allod_alloc_typed(r, ALLOD_BOX, 1);
    if (p) p[1] = v;
    return allod_object_value(p);
}
static inline allod_value allod_array(allod_region *r, size_t len, allod_value fill) {
    uint64_t *p = allod_alloc_tailed(r, ALLOD_ARRAY, len, len);
    if (p)
        for (size_t i = 0; i < len; i++) p[1 + i] = fill;
    return allod_object_value(p);
}
static inline allod_value allod_bytes_of(allod_region *r, uint32_t type, const void *data, size_t n) {
    size_t words = n / 8 + (n % 8 != 0);
    uint64_t *p = allod_alloc_tailed(r, type, words, n);
    if (p && n) {
        p[words] = 0;
        memcpy(p + 1, data, n);
    }
    return allod_object_value(p);
}
/* `n` bytes of UTF-8 text. */
static inline allod_value allod_string(allod_region *r, const char *text, size_t n) {
    return allod_bytes_of(r, ALLOD_STRING, text, n);
}
static inline allod_value allod_bytes(allod_region *r, const void *data, size_t n) {
    return allod_bytes_of(r, ALLOD_BYTES, data, n);
}
static inline allod_value allod_closure(allod_region *r, void (*code)(void), const allod_value *captured,
                                        size_t count) {
    /* An impossible count stays impossible. */
    uint64_t *p = allod_alloc_tailed(r, ALLOD_CLOSURE, count + (count != SIZE_MAX), count);
    if (p) {
        p[1] = (uint64_t)(uintptr_t)code;
        if (count) memcpy(p + 2, captured, 8 * count);
    }
    return allod_object_value(p);
}

/* Constructors, one for each built-in type: function calls that use the type's record. */
allod_value allod_mk_int(allod_region *r, int64_t i);
allod_value allod_mk_float(allod_region *r, double f);
allod_value allod_mk_pair(allod_region *r, allod_value car, allod_value cdr);
allod_value allod_mk_box(allod_region *r, allod_value v);
allod_value allod_mk_array(allod_region *r, size_t len, allod_value fill);
allod_value allod_mk_string(allod_region *r, const char *text, size_t n);
allod_value allod_mk_bytes(allod_region *r, const void *data, size_t n);
allod_value allod_mk_dict(allod_region *r, size_t capacity);
/* U+FFFD for invalid characters. */
allod_value allod_mk_char(uint32_t c);
allod_value allod_mk_closure(allod_region *r, void (*code)(void), const allod_value *captured,
                             size_t count);
/* An uninterned symbol: copies its name, the same as no other. */
allod_value allod_mk_symbol(allod_region *r, const char *name, size_t n);
/* An object of any registered type with `len` trailing elements, zero after its header, if it has one. */
allod_value allod_mk_object(allod_region *r, uint32_t type, size_t len);

/* Batches: one allocation each. `fill` returns element `i` and may use the region. */
typedef allod_value (*allod_fill_fn)(void *context, size_t i);
allod_value allod_list(allod_region *r, size_t count, allod_fill_fn fill, void *context);
allod_value allod_tree(allod_region *r, uint32_t depth, allod_fill_fn fill, void *context);
allod_value allod_array_filled(allod_region *r, size_t count, allod_fill_fn fill, void *context);
allod_value allod_float_array(allod_region *r, const double *numbers, size_t count);

/* ---- Symbols ----------------------------------------------------------------------------------- */

/* The symbol of a name, one for each name in the process; an existing one is not copied. Thread-safe. */
allod_value allod_symbol(const char *name, size_t n);

/* A symbol whose name is known to the compiler: one load after the first use. Emit a static
 * allod_symbol_cell for each name. */
typedef struct allod_symbol_cell {
    const char *name;
    size_t len;
    allod_value symbol;
} allod_symbol_cell;
#define ALLOD_SYMBOL_CELL(text) {text, sizeof(text) - 1, ALLOD_EMPTY}
allod_value allod_symbol_resolve(allod_symbol_cell *cell);
static inline allod_value allod_symbol_in(allod_symbol_cell *cell) {
    allod_value v = __atomic_load_n(&cell->symbol, __ATOMIC_ACQUIRE);
    return __builtin_expect(v != ALLOD_EMPTY, 1) ? v : allod_symbol_resolve(cell);
}

/* ---- Reading ------------------------------------------------------------------------------------ */

static inline int64_t allod_int_value(allod_value v) {
    return allod_is_small(v) ? allod_small_value(v) : (int64_t)allod_object(v)[1];
}
static inline double allod_float_value(allod_value v) {
    double f;
    memcpy(&f, allod_object(v) + 1, 8);
    return f;
}
static inline allod_value allod_car(allod_value v) { return allod_pair_slots(v)[0]; }
static inline allod_value allod_cdr(allod_value v) { return allod_pair_slots(v)[1]; }
static inline allod_value allod_unbox(allod_value v) { return allod_object(v)[1]; }
static inline allod_value allod_at(allod_value array, size_t i) { return allod_object(array)[1 + i]; }
static inline allod_value allod_captured(allod_value closure, size_t i) {
    return allod_object(closure)[2 + i];
}
/* The text or bytes of a string, bytes or symbol: allod_len(v) of them, without a closing zero. */
static inline const char *allod_text(allod_value v) {
    return (const char *)(allod_object(v) + (allod_type_of(v) == ALLOD_SYMBOL ? 2 : 1));
}

/* ---- Stores: the barrier ------------------------------------------------------------------------ */

/* Stores `v` in a slot of the object `container`. If `v`'s region does not outlive the container's,
 * everything `v` reaches is copied there; a compiler that wants values to keep their identity merges the
 * region beforehand (allod_region_merge). Returns what was stored; ALLOD_EMPTY, with the slot unchanged,
 * when memory is out (ENOMEM), when the container is frozen (EPERM), or when `v` is in a region and the
 * container in none (EINVAL): static data outlives every region. Immediates, and ALLOD_EMPTY, which empties the slot,
 * are stored without a look at the container: it must not be frozen. */
allod_value allod_store_object(allod_value container, allod_value *slot, allod_value v);
static inline allod_value allod_store(allod_value container, allod_value *slot, allod_value v) {
    if (!allod_is_object(v)) return *slot = v;
    return allod_store_object(container, slot, v);
}
/* Stores that keep identity. The first stores `v` as it is or refuses (EXDEV where allod_store would copy); the second
 * merges `v`'s region into the container's where that is needed, and refuses (EXDEV) when that cannot be done. They
 * return `v`, or ALLOD_EMPTY with the slot unchanged. */
allod_value allod_store_as_is(allod_value container, allod_value *slot, allod_value v);
allod_value allod_store_merging(allod_value container, allod_value *slot, allod_value v);
static inline allod_value allod_set_car(allod_value pair, allod_value v) {
    return allod_store(pair, allod_pair_slots(pair), v);
}
static inline allod_value allod_set_cdr(allod_value pair, allod_value v) {
    return allod_store(pair, allod_pair_slots(pair) + 1, v);
}
static inline allod_value allod_set_box(allod_value box, allod_value v) {
    return allod_store(box, allod_object(box) + 1, v);
}
static inline allod_value allod_set_at(allod_value array, size_t i, allod_value v) {
    return allod_store(array, allod_object(array) + 1 + i, v);
}

/* ---- Dictionaries ------------------------------------------------------------------------------- */

/* Entries keep the order of insertion: setting a key again keeps its place, removing it and setting it
 * again puts it last. Keys: immediates, numbers, symbols (by identity), strings and bytes (by content).
 * Floating-point keys are compared by their bits. Each process uses new hash keys.
 *
 * Layout, which only the functions here rely on:
 *   dict:  header, table      table: header (length: capacity), used | live << 32, index words or 0,
 *                                    capacity times key and value, index: entry numbers from 1 */

/* A dictionary with room for `capacity` entries, and its table: one allocation, inlined up to 8. */
static inline allod_value allod_dict(allod_region *r, size_t capacity) {
    if (capacity > 8) return allod_mk_dict(r, capacity);
    size_t n = capacity < 4 ? 4 : capacity;
    uint64_t *p = (uint64_t *)allod_region_alloc(r, 8 * (2 + 3 + 2 * n));
    if (__builtin_expect(p != NULL, 1)) {
        p[0] = ALLOD_HEADER(ALLOD_DICT, 0);
        p[1] = (uint64_t)(uintptr_t)(p + 2);
        p[2] = ALLOD_HEADER(ALLOD_TABLE, n);
        p[3] = 0;
        p[4] = 0;
    }
    return allod_object_value(p);
}

/* The two words with which immediate keys are hashed; they never change. */
const uint64_t *allod_hash_keys(void);
static inline uint64_t allod_hash_fold(uint64_t a, uint64_t b) {
    __extension__ typedef unsigned __int128 wide;
    wide p = (wide)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}
static inline uint64_t allod_hash_immediate(allod_value v) {
    static const uint64_t *keys;
    const uint64_t *k = __atomic_load_n(&keys, __ATOMIC_ACQUIRE);
    if (__builtin_expect(k == NULL, 0)) __atomic_store_n(&keys, k = allod_hash_keys(), __ATOMIC_RELEASE);
    return allod_hash_fold(allod_hash_fold(v ^ k[0], k[1]) ^ v, (k[0] << 17 | k[0] >> 47) | 1);
}

/* The value of a key; ALLOD_EMPTY if the key is missing. Inlined for immediates and symbols; other keys are
 * compared by content in the library. */
allod_value allod_dict_get_slow(allod_value dict, allod_value key);
static inline allod_value allod_dict_get(allod_value dict, allod_value key) {
    bool symbol = allod_is(key, ALLOD_SYMBOL);
    if (allod_is_object(key) && !symbol) return allod_dict_get_slow(dict, key);
    const uint64_t *table = allod_object((allod_value)allod_object(dict)[1]), *entries = table + 3;
    size_t mask = (size_t)table[2];
    if (mask == 0) {
        size_t used = (size_t)(uint32_t)table[1];
        for (size_t i = 0; i < used; i++)
            if (entries[2 * i] == key) return entries[2 * i + 1];
        return ALLOD_EMPTY;
    }
    mask--;
    const uint32_t *index = (const uint32_t *)(entries + 2 * (table[0] >> 16));
    size_t at = (size_t)(symbol ? allod_object(key)[1] : allod_hash_immediate(key)) & mask;
    for (; index[at] != 0; at = (at + 1) & mask) {
        const uint64_t *entry = entries + 2 * ((size_t)index[at] - 1);
        if (entry[0] == key) return entry[1];
    }
    return ALLOD_EMPTY;
}
static inline bool allod_dict_contains(allod_value dict, allod_value key) {
    return allod_dict_get(dict, key) != ALLOD_EMPTY;
}
/* False with errno EINVAL for an invalid key or ALLOD_EMPTY as the value, ENOMEM, EPERM for a frozen dictionary, or
 * EINVAL as for allod_store. */
bool allod_dict_set(allod_value dict, allod_value key, allod_value v);
/* The removed value; ALLOD_EMPTY if there was none. */
allod_value allod_dict_remove(allod_value dict, allod_value key);
size_t allod_dict_len(allod_value dict);
/* The next entry at or after place *at, which is moved past it; false at the end. Start at 0. */
bool allod_dict_next(allod_value dict, size_t *at, allod_value *key, allod_value *v);

/* ---- Transmigration ----------------------------------------------------------------------------- */

/* Copies everything the roots reach to `dest`; sharing and cycles are kept. The source is unchanged. */
bool allod_copy(allod_region *dest, allod_value *roots, size_t count);
/* Moves it out of `dying`, which may then only be exited; copies it when `dying` is shared, frozen or merged. */
bool allod_move(allod_region *dest, allod_region *dying, allod_value *roots, size_t count);

/* ---- Values as a whole -------------------------------------------------------------------------- */

/* Structural equality, also for cycles. Identity is ==. False with ENOMEM when working memory is out; errno
 * is left alone otherwise. */
bool allod_equal(allod_value a, allod_value b);
/* A hash that equal values share. */
uint64_t allod_hash(allod_value v);
/* Writes the value as text to `buffer` like snprintf; returns the full length. Bytes of strings and names
 * that are not UTF-8 are written as \xFF. */
size_t allod_print(allod_value v, char *buffer, size_t size);

/* Slots outside all regions, such as globals, that `validate` builds trace at each exit. */
void allod_root_add(allod_value *slot);
void allod_root_remove(allod_value *slot);

#ifdef __cplusplus
}
#endif

#endif
