/* The functions of allod/region.h, inlined and called, on every built-in type and on types of one's own.
 * modes: shared archive static */
#define _GNU_SOURCE
#include <allod/region.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static allod_value text(allod_region *r, const char *s) { return allod_string(r, s, strlen(s)); }

/* ---- Values and constructors ---- */

static void immediates_need_no_memory(void) {
    CHECK(allod_small_value(allod_small(-5)) == -5 && allod_is_int(allod_small(-5)));
    CHECK(allod_char_value(allod_char(0x10FFFF)) == 0x10FFFF && allod_is_char(allod_char(0)));
    CHECK(allod_bool(true) == ALLOD_TRUE && allod_is_bool(ALLOD_FALSE) && !allod_is_bool(ALLOD_NIL));
    CHECK(allod_is_nil(ALLOD_NIL) && !allod_is_object(ALLOD_NIL) && !allod_is_object(ALLOD_EMPTY));
    CHECK(allod_type_of(ALLOD_NIL) == 0 && allod_region_of(allod_object(ALLOD_NIL)) == NULL);
    CHECK(allod_mk_char('x') == allod_char('x'));
}

/* Each made twice, inlined and by the constructor: the same type, length and content. */
static void inlined_and_called_make_the_same(void) {
    allod_region *r = allod_region_create();
    const allod_value captured[2] = {allod_small(1), ALLOD_NIL};
    const struct {
        allod_value inlined, called;
    } made[] = {
        {allod_boxed_int(r, INT64_MIN), allod_mk_int(r, INT64_MIN)},
        {allod_float(r, -0.5), allod_mk_float(r, -0.5)},
        {allod_pair(r, allod_small(1), ALLOD_NIL), allod_mk_pair(r, allod_small(1), ALLOD_NIL)},
        {allod_box(r, ALLOD_TRUE), allod_mk_box(r, ALLOD_TRUE)},
        {allod_array(r, 5, ALLOD_NIL), allod_mk_array(r, 5, ALLOD_NIL)},
        {text(r, "na\xC3\xAFve text"), allod_mk_string(r, "na\xC3\xAFve text", 11)},
        {text(r, ""), allod_mk_string(r, NULL, 0)},
        {allod_bytes(r, "\0\1\2", 3), allod_mk_bytes(r, "\0\1\2", 3)},
        {allod_closure(r, NULL, captured, 2), allod_mk_closure(r, NULL, captured, 2)},
        {allod_dict(r, 3), allod_mk_dict(r, 3)},
        {allod_dict(r, 30), allod_mk_dict(r, 30)},
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        allod_value a = made[i].inlined, b = made[i].called;
        CHECK(a != b && allod_type_of(a) == allod_type_of(b));
        CHECK(allod_is_pair(a) || allod_len(a) == allod_len(b));
        CHECK(allod_equal(a, b) && allod_hash(a) == allod_hash(b));
        CHECK(allod_region_of(allod_object(a)) == r && allod_region_of(allod_object(b)) == r);
    }
    CHECK(allod_int_value(made[0].inlined) == INT64_MIN && allod_float_value(made[1].inlined) == -0.5);
    CHECK(memcmp(allod_text(made[5].inlined), "na\xC3\xAFve text", 11) == 0);
    CHECK(allod_captured(made[8].inlined, 0) == allod_small(1));
    CHECK(allod_int(r, (int64_t)1 << 59) == allod_small((int64_t)1 << 59));
    CHECK(allod_is(allod_int(r, (int64_t)1 << 60), ALLOD_INT));
    CHECK(allod_int_value(allod_int(r, -((int64_t)1 << 60) - 1)) == -((int64_t)1 << 60) - 1);
    allod_region_exit(r);
}

static void symbols_are_interned(void) {
    static allod_symbol_cell cell = ALLOD_SYMBOL_CELL("lambda");
    allod_region *r = allod_region_create();
    allod_value lambda = allod_symbol("lambda", 6);
    CHECK(lambda == allod_symbol_in(&cell) && lambda == allod_symbol_in(&cell));
    CHECK(allod_is(lambda, ALLOD_SYMBOL) && allod_len(lambda) == 6);
    CHECK(memcmp(allod_text(lambda), "lambda", 6) == 0 && allod_region_of(allod_object(lambda)) == NULL);
    allod_value own = allod_mk_symbol(r, "lambda", 6);
    CHECK(own != lambda && !allod_equal(own, lambda) && memcmp(allod_text(own), "lambda", 6) == 0);
    allod_region_exit(r);
}

static void text_that_is_not_utf8_is_printed_escaped(void) {
    static const char bad[] = "caf\xC3";
    static allod_symbol_cell cell = ALLOD_SYMBOL_CELL("caf\xC3");
    static const char prints[] = "(\"caf\\xC3\" \"caf\\xC3\" caf\\xC3 caf\\xC3)";
    allod_region *r = allod_region_create();
    allod_value name = allod_symbol(bad, 4), list = ALLOD_NIL;
    CHECK(name == allod_symbol_in(&cell) && memcmp(allod_text(name), bad, 4) == 0);
    list = allod_pair(r, allod_mk_symbol(r, bad, 4), list);
    list = allod_pair(r, name, list);
    list = allod_pair(r, allod_mk_string(r, bad, 4), list);
    list = allod_pair(r, allod_string(r, bad, 4), list);
    char printed[100];
    CHECK(allod_print(list, printed, sizeof printed) == sizeof prints - 1);
    CHECK(strcmp(printed, prints) == 0);
    allod_region_exit(r);
}

static allod_value square(void *region, size_t i) {
    return allod_boxed_int((allod_region *)region, (int64_t)(i * i));
}

static void batches_take_one_allocation(void) {
    allod_region *r = allod_region_create();
    allod_value list = allod_list(r, 1000, square, r), a = allod_array_filled(r, 1000, square, r);
    for (size_t i = 0; i < 1000; i++, list = allod_cdr(list)) {
        CHECK(allod_int_value(allod_car(list)) == (int64_t)(i * i));
        CHECK(allod_int_value(allod_at(a, i)) == (int64_t)(i * i));
    }
    CHECK(list == ALLOD_NIL);
    allod_value tree = allod_tree(r, 3, square, r);
    CHECK(allod_int_value(allod_cdr(allod_cdr(allod_cdr(tree)))) == 49);
    const double numbers[3] = {1, 2, 3};
    CHECK(allod_float_value(allod_at(allod_float_array(r, numbers, 3), 2)) == 3);
    allod_region_exit(r);
}

static void every_alignment_and_size_is_served(void) {
    allod_region *r = allod_region_create();
    for (size_t align = 1; align <= 65536; align *= 2)
        for (size_t size = 0; size < 300000; size = 3 * size + 1) {
            char *p = (char *)allod_region_alloc_aligned(r, size, align);
            CHECK(p != NULL && is_aligned(p, align));
            memset(p, 0x5A, size);
        }
    errno = 0;
    CHECK(allod_region_alloc(r, opaque_size(SIZE_MAX)) == NULL && errno == ENOMEM);
    CHECK(allod_region_alloc(r, opaque_size((size_t)PTRDIFF_MAX)) == NULL && errno == ENOMEM);
    CHECK(allod_array(r, opaque_size(SIZE_MAX / 8), ALLOD_NIL) == ALLOD_EMPTY);
    CHECK(allod_mk_array(r, opaque_size(SIZE_MAX / 8), ALLOD_NIL) == ALLOD_EMPTY);
    CHECK(allod_mk_object(r, ALLOD_ARRAY, opaque_size(SIZE_MAX / 8)) == ALLOD_EMPTY);
    errno = 0;
    CHECK(allod_region_alloc_aligned(r, 8, 24) == NULL && errno == EINVAL);
    CHECK(allod_region_alloc_aligned(r, 8, 1 << 17) == NULL);
    allod_region_exit(r);
}

/* ---- Dictionaries ---- */

/* A key of every kind, the same for the same i, made anew. */
static allod_value key(allod_region *r, int i) {
    char name[20];
    int n = snprintf(name, sizeof name, "key %d", i);
    switch (i % 6) {
    case 0: return allod_small(i);
    case 1: return allod_boxed_int(r, i); /* the same key as the immediate */
    case 2: return allod_float(r, i + 0.5);
    case 3: return allod_symbol(name, (size_t)n);
    case 4: return allod_string(r, name, (size_t)n);
    default: return allod_bytes(r, name, (size_t)n);
    }
}

static void dictionaries_find_keys_of_every_kind(void) {
    for (int entries = 1; entries < 400; entries = 2 * entries + 1) {
        allod_region *r = allod_region_create();
        allod_value d = allod_dict(r, 0);
        for (int i = 0; i < entries; i++) CHECK(allod_dict_set(d, key(r, i), allod_small(i)));
        for (int i = 0; i < 2 * entries; i++) {
            CHECK(allod_dict_contains(d, key(r, i)) == (i < entries));
            if (i < entries) CHECK(allod_dict_get(d, key(r, i)) == allod_small(i));
        }
        CHECK(allod_dict_len(d) == (size_t)entries);
        for (int i = 0; i < entries; i += 2)
            CHECK(allod_dict_remove(d, key(r, i)) == allod_small(i));
        CHECK(allod_dict_remove(d, key(r, 0)) == ALLOD_EMPTY);
        CHECK(!allod_dict_contains(d, ALLOD_EMPTY) && !allod_dict_contains(d, ALLOD_TRUE));
        size_t at = 0;
        allod_value k, v;
        for (int i = 1; i < entries; i += 2) {
            CHECK(allod_dict_get(d, key(r, i)) == allod_small(i));
            CHECK(allod_dict_next(d, &at, &k, &v) && v == allod_small(i));
        }
        CHECK(!allod_dict_next(d, &at, &k, &v));
        errno = 0;
        CHECK(!allod_dict_set(d, allod_pair(r, d, d), d) && errno == EINVAL);
        allod_region_exit(r);
    }
}

/* ---- Types of one's own ---- */

/* A fixed map: two values behind a plain word. */
static const allod_type employee_type = {"employee", 32, 8, 0x6, ALLOD_TAIL_NONE, 0, NULL, NULL};
/* A trailing array of values behind a plain word and a value. */
static const allod_type frame_type = {"frame", 24, 8, 0x2, ALLOD_TAIL_VALUES, 0, NULL, NULL};
/* Plain elements of 4 bytes, on a cache line. */
static const allod_type vector_type = {"vector", 64, 64, 0, ALLOD_TAIL_PLAIN, 4, NULL, NULL};

/* The odd one: a variant record, whose second word is a value if its first says so, and whose length
 * is in it: tag, payload, count, then count plain words. */
static size_t variant_size(const uint64_t *object) { return 8 * (4 + (size_t)object[3]); }
static void variant_trace(uint64_t *object, allod_visit_fn visit, void *context) {
    if (object[1] == 1) visit(context, &object[2]);
}
static const allod_type variant_type = {"variant", 32,           8, 0, ALLOD_TAIL_NONE, 0,
                                        variant_size, variant_trace};

static uint32_t employee, frame, vector, variant;

static void contradictory_records_are_refused(void) {
    const struct {
        uint32_t size, align;
        uint64_t map;
        uint32_t tail;
    } bad[] = {{0, 8, 0, 0}, {12, 8, 0, 0}, {16, 4, 0, 0}, {16, 24, 0, 0}, {16, 1 << 17, 0, 0},
               {16, 8, 2, 0}, {8, 8, 1, 0}, {16, 8, 0, 9}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        allod_type type = {"bad", bad[i].size, bad[i].align, bad[i].map, bad[i].tail, 0, NULL, NULL};
        errno = 0;
        CHECK(allod_type_register(&type) == 0 && errno == EINVAL);
    }
    allod_type nameless = employee_type, sized = employee_type;
    nameless.name = NULL;
    sized.size_of = variant_size;
    CHECK(allod_type_register(&nameless) == 0 && allod_type_register(&sized) == 0);
}

static void typed_allocation_keeps_to_the_alignment_of_its_type(void) {
    for (uint32_t align = 8; align <= 65536; align *= 2) {
        allod_type fixed = employee_type, tailed = vector_type;
        fixed.align = tailed.align = align;
        uint32_t f = allod_type_register(&fixed), t = allod_type_register(&tailed);
        allod_region *r = allod_region_create();
        for (int i = 0; i < 20; i++) {
            allod_pair(r, ALLOD_NIL, ALLOD_NIL);
            uint64_t *p = allod_alloc_typed(r, f, 3), *q = allod_alloc_tailed(r, t, 7 + 50, 100);
            CHECK(p && q && is_aligned(p, align) && is_aligned(q, align));
            CHECK(allod_is(allod_object_value(p), f) && allod_is(allod_object_value(q), t));
            CHECK(allod_len(allod_object_value(q)) == 100);
            p[1] = p[2] = p[3] = (uint64_t)ALLOD_NIL;
            allod_value copy = allod_object_value(p);
            allod_region *other = allod_region_create();
            CHECK(allod_copy(other, &copy, 1) && is_aligned(allod_object(copy), align));
            allod_region_exit(other);
        }
        allod_region_exit(r);
    }
}

static void typed_allocation_refuses_what_is_too_large(void) {
    allod_region *r = allod_region_create();
    const uint32_t types[] = {ALLOD_ARRAY, vector};
    const size_t words[] = {SIZE_MAX / 8, SIZE_MAX, SIZE_MAX / 16, PTRDIFF_MAX / 8};
    for (size_t i = 0; i < 8; i++) {
        size_t n = opaque_size(words[i / 2]);
        errno = 0;
        CHECK(allod_alloc_typed(r, types[i % 2], n) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(allod_alloc_tailed(r, types[i % 2], n, 1) == NULL && errno == ENOMEM);
    }
    errno = 0;
    const allod_value one = ALLOD_NIL;
    CHECK(allod_closure(r, NULL, &one, opaque_size(SIZE_MAX)) == ALLOD_EMPTY && errno == ENOMEM);
    allod_region_exit(r);
}

/* An object of each type that reaches the others; all of them again in a cycle. */
static allod_value objects_of_every_type(allod_region *r) {
    uint64_t *e = allod_alloc_typed(r, employee, 3);
    uint64_t *f = allod_alloc_tailed(r, frame, 2 + 100, 100);
    uint64_t *v = (uint64_t *)allod_object(allod_mk_object(r, vector, 1000));
    uint64_t *x = allod_alloc_typed(r, variant, 3 + 50), *y = allod_alloc_typed(r, variant, 3);
    CHECK(e && f && v && x && y && is_aligned(v, 64));
    e[1] = 7; /* plain, though it looks like an integer; 8 would look like an address */
    e[2] = text(r, "name");
    e[3] = allod_object_value(f);
    f[1] = 8;
    f[2] = allod_object_value(e);
    for (int i = 0; i < 100; i++) f[3 + i] = allod_boxed_int(r, i);
    f[3] = allod_object_value(v);
    f[4] = allod_object_value(x);
    f[5] = allod_object_value(y);
    for (int i = 0; i < 1000; i++) ((uint32_t *)(v + 8))[i] = (uint32_t)i;
    x[1] = 1;
    x[2] = allod_object_value(e);
    x[3] = 50;
    for (int i = 0; i < 50; i++) x[4 + i] = 16; /* would look like addresses */
    y[1] = 2;
    y[2] = 24; /* not a value, its tag says */
    y[3] = 0;
    return allod_object_value(e);
}

static void check_objects(allod_value v, allod_region *r) {
    const uint64_t *e = allod_object(v), *f = allod_object(e[3]);
    const uint64_t *vec = allod_object(f[3]), *x = allod_object(f[4]), *y = allod_object(f[5]);
    CHECK(allod_is(v, employee) && e[1] == 7 && memcmp(allod_text(e[2]), "name", 4) == 0);
    CHECK(allod_len(e[3]) == 100 && f[1] == 8 && f[2] == v);
    for (size_t i = 3; i < 100; i++) CHECK(allod_int_value(f[3 + i]) == (int64_t)i);
    CHECK(is_aligned(vec, 64) && ((const uint32_t *)(vec + 8))[999] == 999);
    CHECK(x[1] == 1 && x[2] == v && x[3] == 50 && x[53] == 16 && y[1] == 2 && y[2] == 24);
    const void *all[] = {e, f, vec, x, y};
    for (int i = 0; i < 5; i++) CHECK(allod_region_of(all[i]) == r);
}

static void own_types_are_copied_moved_spliced_and_compared(void) {
    employee = allod_type_register(&employee_type);
    frame = allod_type_register(&frame_type);
    vector = allod_type_register(&vector_type);
    variant = allod_type_register(&variant_type);
    CHECK(employee && frame && vector && variant);
    allod_region *a = allod_region_create(), *b = allod_region_create(), *c = allod_region_create();
    allod_value v = objects_of_every_type(a), copy = v, moved;
    CHECK(allod_copy(b, &copy, 1) && copy != v);
    check_objects(v, a);
    check_objects(copy, b);
    CHECK(allod_equal(v, copy) && allod_hash(v) == allod_hash(copy));
    moved = v;
    CHECK(allod_move(c, a, &moved, 1));
    allod_region_exit(a);
    check_objects(moved, c);
    CHECK(allod_region_splice(b, c));
    check_objects(copy, c);
    char printed[8192];
    CHECK(allod_print(copy, printed, sizeof printed) > 100 && strstr(printed, "#<employee"));
    CHECK(allod_print(copy, printed, 9) > 100 && strlen(printed) == 8);
    allod_region *d = allod_region_create();
    CHECK(allod_region_exit_with(c, d, &moved, 1));
    check_objects(moved, d);
    allod_region_exit(d);
}

/* ---- Stores ---- */

static void stores_keep_the_closure_rule(void) {
    allod_region *outer = allod_region_create(), *inner = allod_region_create();
    allod_value pair = allod_pair(outer, ALLOD_NIL, ALLOD_NIL), box = allod_box(outer, ALLOD_NIL);
    allod_value array = allod_array(outer, 3, ALLOD_NIL), d = allod_dict(outer, 1);
    uint64_t *e = allod_alloc_typed(outer, employee, 3);
    e[1] = 0;
    e[2] = e[3] = ALLOD_NIL;
    allod_value v = allod_list(inner, 3, square, inner);
    CHECK(allod_set_car(pair, v) != v && allod_set_box(box, v) != v && allod_set_at(array, 2, v) != v);
    CHECK(allod_set_cdr(pair, allod_small(5)) == allod_small(5));
    CHECK(allod_store(allod_object_value(e), &e[2], v) == e[2] && e[2] != v);
    CHECK(allod_dict_set(d, text(inner, "k"), v));
    CHECK(allod_region_account(outer).repairs >= 5);
    allod_region_exit(inner);
    char printed[100];
    allod_print(allod_dict_get(d, text(outer, "k")), printed, sizeof printed);
    CHECK(strcmp(printed, "(0 1 4)") == 0 && allod_region_of(allod_object(e[2])) == outer);
    /* Into a child nothing is copied. */
    allod_region *child = allod_region_create_in(outer);
    allod_value cell = allod_box(child, ALLOD_NIL);
    CHECK(allod_set_box(cell, pair) == pair && allod_region_outlives(outer, child));
    allod_region_exit(child);
    allod_region_retain(outer);
    allod_region_freeze(outer);
    errno = 0;
    CHECK(allod_set_car(pair, array) == ALLOD_EMPTY && errno == EPERM);
    CHECK(!allod_dict_set(d, allod_small(1), ALLOD_NIL) && errno == EPERM);
    allod_region_exit(outer);
    allod_region_release(outer);
}

static void static_containers_refuse_what_lies_in_a_region(void) {
    static uint64_t constant[2] = {ALLOD_NIL, ALLOD_NIL};
    allod_region *r = allod_region_create();
    allod_value pair = allod_pair_value(constant);
    CHECK(allod_is(pair, ALLOD_PAIR) && allod_is_pair(pair) && allod_is_object(pair) && !allod_is_headed(pair));
    errno = 0;
    CHECK(allod_set_car(pair, text(r, "dies")) == ALLOD_EMPTY && errno == EINVAL);
    CHECK(allod_car(pair) == ALLOD_NIL);
    CHECK(allod_set_car(pair, allod_small(1)) == allod_small(1));
    CHECK(allod_set_cdr(pair, allod_symbol("stays", 5)) == allod_cdr(pair));
    allod_region_exit(r);
    char printed[20];
    CHECK(allod_print(pair, printed, sizeof printed) == 11 && strcmp(printed, "(1 . stays)") == 0);
}

/* ---- Lives ---- */

static allod_region *passed;
static allod_value passed_value;

static void *reads_and_releases(void *unused) {
    allod_region_tether(passed);
    allod_region_release(passed);
    CHECK(allod_len(passed_value) == 10000);
    allod_region_untether(passed);
    return unused;
}

static void *receives(void *unused) {
    allod_region *here = allod_region_create();
    allod_region_adopt(passed);
    CHECK(allod_region_splice(passed, here) && allod_region_of(allod_object(passed_value)) == here);
    CHECK(allod_int_value(allod_at(passed_value, 9999)) == 9999LL * 9999);
    allod_region_exit(here);
    return unused;
}

static void run(void *(*work)(void *)) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, work, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

static void regions_are_shared_and_sent(void) {
    passed = allod_region_create();
    passed_value = allod_array_filled(passed, 10000, square, passed);
    allod_region_retain(passed);
    allod_region_freeze(passed);
    allod_region_exit(passed);
    run(reads_and_releases);

    passed = allod_region_create();
    passed_value = allod_array_filled(passed, 10000, square, passed);
    allod_region_tether(passed);
    CHECK(!allod_region_detach(passed)); /* tethered */
    allod_region_untether(passed);
    CHECK(allod_region_detach(passed));
    run(receives);
}

static void a_tether_keeps_what_was_left(void) {
    allod_region *r = allod_region_create();
    allod_value v = text(r, "kept");
    allod_region_tether(r);
    allod_region_tether(r);
    allod_region_exit(r);
    allod_region_untether(r);
    CHECK(memcmp(allod_text(v), "kept", 4) == 0 && allod_region_of(allod_object(v)) == r);
    allod_region_untether(r);
}

static void accounting_adds_up(void) {
    allod_region *r = allod_region_create();
    for (int i = 0; i < 20; i++) allod_float(r, i);
    allod_region_accounting a = allod_region_account(r);
    CHECK(a.live == 320 && a.inline_used == 320 && a.chunks == 0 && a.repairs == 0);
    for (int i = 0; i < 20; i++) allod_float(r, i);
    a = allod_region_account(r);
    CHECK(a.live == 640 && a.peak == 640 && a.inline_used == 512 && a.chunks == 1 && a.chunk_bytes == 4096);
    allod_region_exit(r);
}

static void a_region_is_evacuated_from_linked_roots(void) {
    allod_region *r = allod_region_create();
    allod_value outer[2] = {text(r, "kept"), ALLOD_EMPTY}, inner[1] = {allod_pair(r, outer[0], ALLOD_EOF)};
    allod_roots caller = {NULL, 2, outer}, callee = {&caller, 1, inner};
    for (int turn = 0; turn < 100; turn++) {
        for (int i = 0; i < 10000; i++) allod_float(r, i);
        CHECK(allod_region_evacuate(r, &callee));
        CHECK(allod_region_account(r).live == 32 && allod_region_account(r).chunk_bytes == 0);
        CHECK(allod_car(inner[0]) == outer[0] && allod_cdr(inner[0]) == ALLOD_EOF && outer[1] == ALLOD_EMPTY);
        CHECK(memcmp(allod_text(outer[0]), "kept", 4) == 0 && allod_region_of(allod_object(outer[0])) == r);
    }
    allod_region *child = allod_region_create_in(r);
    errno = 0;
    CHECK(!allod_region_evacuate(r, &callee) && errno == EBUSY && allod_car(inner[0]) == outer[0]);
    allod_region_exit(child);
    CHECK(allod_region_evacuate(r, NULL) && allod_region_account(r).live == 0);
    allod_region_freeze(r);
    errno = 0;
    CHECK(!allod_region_evacuate(r, NULL) && errno == EPERM);
    allod_region_exit(r);
}

static void a_failed_constructor_is_no_entry(void) {
    allod_region *r = allod_region_create();
    allod_value d = allod_dict(r, 2);
    CHECK(allod_dict_set(d, ALLOD_TRUE, ALLOD_NIL));
    errno = 0;
    CHECK(!allod_dict_set(d, ALLOD_TRUE, allod_array(r, opaque_size(SIZE_MAX / 8), ALLOD_NIL)) && errno == EINVAL);
    CHECK(!allod_dict_set(d, ALLOD_FALSE, ALLOD_EMPTY) && !allod_dict_set(d, ALLOD_EMPTY, ALLOD_NIL));
    CHECK(allod_dict_len(d) == 1 && allod_dict_get(d, ALLOD_TRUE) == ALLOD_NIL);
    allod_region_exit(r);
}

static void an_escape_leaves_the_scopes_between(void) {
    allod_region *mark = allod_region_create(), *r = mark, *other = allod_region_create();
    for (int i = 0; i < 100; i++) r = allod_region_create_in(r);
    CHECK(!allod_region_exit_to(r, other) && allod_region_exit_to(r, mark));
    allod_value v = text(mark, "still open");
    CHECK(allod_region_evacuate(mark, &(allod_roots){NULL, 1, &v}) && allod_len(v) == 10);
    allod_region_exit(mark);
    allod_region_exit(other);
}

static void stores_keep_identity_or_refuse(void) {
    allod_region *outer = allod_region_create(), *inner = allod_region_create();
    allod_value box = allod_box(outer, ALLOD_UNBOUND), v = text(inner, "inner"), *slot = allod_object(box) + 1;
    errno = 0;
    CHECK(!allod_store_as_is(box, slot, v) && errno == EXDEV && allod_unbox(box) == ALLOD_UNBOUND);
    CHECK(allod_store_as_is(box, slot, ALLOD_UNSPECIFIED) == ALLOD_UNSPECIFIED);
    CHECK(allod_store_merging(box, slot, v) == v && allod_unbox(box) == v);
    CHECK(allod_store_as_is(box, slot, v) == v);
    allod_region_exit(inner);
    CHECK(memcmp(allod_text(allod_unbox(box)), "inner", 5) == 0);
    allod_region_freeze(outer);
    errno = 0;
    CHECK(!allod_store_merging(box, slot, v) && errno == EPERM);
    allod_region_exit(outer);
}

/* Registered before all others, at the program's start. */
enum { POINT = ALLOD_FIRST_TYPE, WRITABLE };
static const allod_type first_types[2] = {
    {"point", 24, 8, 0x2, ALLOD_TAIL_NONE, 0, NULL, NULL},
    {"writable", 8, 8, 0, ALLOD_TAIL_PLAIN, 1, NULL, NULL}, /* a string that can be written */
};

static void records_have_constant_ids(void) {
    allod_region *r = allod_region_create(), *heir = allod_region_create();
    uint64_t *p = allod_alloc_typed(r, POINT, 2), *s = allod_alloc_tailed(r, WRITABLE, 1, 5);
    memcpy(s + 1, "hello\0\0", 8);
    p[1] = 7;
    p[2] = allod_object_value(s);
    allod_value v = allod_object_value(p);
    ((char *)(s + 1))[0] = 'j';
    CHECK(allod_is(v, POINT) && allod_is(p[2], WRITABLE) && !allod_is(p[2], POINT) && !allod_is(ALLOD_NIL, POINT));
    CHECK(allod_region_exit_with(r, heir, &v, 1));
    CHECK(allod_object(v)[1] == 7 && memcmp(allod_object(allod_object(v)[2]) + 1, "jello", 5) == 0);
    errno = 0;
    CHECK(!allod_types_register(first_types, 2, POINT) && errno == EEXIST);
    allod_region_exit(heir);
}

static void no_memory(size_t size) { _exit(size == (size_t)PTRDIFF_MAX ? 3 : 4); }

static void what_is_needed_is_there_or_the_program_ends(void) {
    allod_region *r = allod_region_create();
    memset(allod_region_need(r, 1000), 1, 1000);
    for (int handled = 0; handled < 2; handled++) {
        pid_t child = fork();
        if (child == 0) {
            close(2);
            if (handled) allod_region_on_no_memory(no_memory);
            allod_region_need(r, opaque_size((size_t)PTRDIFF_MAX));
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(handled ? WIFEXITED(status) && WEXITSTATUS(status) == 3
                      : WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
    allod_region_exit(r);
}

static void impossible_lengths_are_refused_unseen(void) {
    allod_region *r = allod_region_create();
    for (int bit = 48; bit < 64; bit++) {
        size_t n = opaque_size((size_t)1 << bit);
        errno = 0;
        CHECK(!allod_symbol("x", n) && errno == ENOMEM && !allod_mk_symbol(r, "x", n));
        CHECK(!allod_string(r, "x", n) && !allod_mk_string(r, "x", n) && !allod_mk_bytes(r, "x", n));
        CHECK(!allod_mk_closure(r, NULL, NULL, n) && !allod_float_array(r, NULL, n) && !allod_mk_dict(r, n));
    }
    allod_region_exit(r);
}

int main(void) {
    CHECK(allod_types_register(first_types, 2, POINT));
    immediates_need_no_memory();
    inlined_and_called_make_the_same();
    symbols_are_interned();
    text_that_is_not_utf8_is_printed_escaped();
    batches_take_one_allocation();
    every_alignment_and_size_is_served();
    dictionaries_find_keys_of_every_kind();
    contradictory_records_are_refused();
    typed_allocation_keeps_to_the_alignment_of_its_type();
    own_types_are_copied_moved_spliced_and_compared();
    typed_allocation_refuses_what_is_too_large();
    stores_keep_the_closure_rule();
    static_containers_refuse_what_lies_in_a_region();
    regions_are_shared_and_sent();
    a_tether_keeps_what_was_left();
    accounting_adds_up();
    a_region_is_evacuated_from_linked_roots();
    an_escape_leaves_the_scopes_between();
    a_failed_constructor_is_no_entry();
    stores_keep_identity_or_refuse();
    records_have_constant_ids();
    what_is_needed_is_there_or_the_program_ends();
    impossible_lengths_are_refused_unseen();
    return 0;
}
