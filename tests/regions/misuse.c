/* Each argument names one wrong use of regions; liballod built with the feature `validate` ends the
 * program with a message. "right" does everything right and ends with 0. */
#include <allod/region.h>
#include <stdio.h>
#include <stdlib.h>

static allod_region *outer, *inner;
static allod_value global;

static allod_region *gone(void) {
    allod_region *r = allod_region_create();
    allod_region_exit(r);
    for (int i = 0; i < 100; i++) allod_region_exit(allod_region_create());
    return r;
}

static void exit_twice(void) { allod_region_exit(gone()); }
static void release_too_often(void) { allod_region_release(outer); }
static void use_after_reclaim(void) { allod_pair(gone(), ALLOD_NIL, ALLOD_NIL); }
static void past_the_barrier(void) {
    global = allod_pair(outer, ALLOD_NIL, ALLOD_NIL);
    allod_pair_slots(global)[0] = allod_string(inner, "dies", 4); /* not allod_set_car */
    allod_region_exit(inner);
}
static void past_the_barrier_in_a_dictionary(void) {
    global = allod_dict(outer, 4);
    allod_value list = allod_pair(outer, ALLOD_NIL, ALLOD_NIL);
    allod_dict_set(global, allod_symbol("x", 1), list);
    allod_pair_slots(list)[1] = allod_array(inner, 10, ALLOD_NIL); /* not allod_set_cdr */
    allod_region_exit(inner);
}
static void global_left_behind(void) {
    global = allod_float(inner, 1.5);
    allod_region_exit(inner);
}
static void right(void) {
    global = allod_pair(outer, ALLOD_NIL, ALLOD_NIL);
    allod_set_car(global, allod_string(inner, "stays", 5));
    allod_value list = allod_pair(inner, global, ALLOD_NIL);
    if (!allod_region_exit_with(inner, outer, &list, 1)) abort();
    allod_set_cdr(global, list);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"exit twice", exit_twice},
             {"release too often", release_too_often},
             {"use after reclaim", use_after_reclaim},
             {"past the barrier", past_the_barrier},
             {"past the barrier in a dictionary", past_the_barrier_in_a_dictionary},
             {"global left behind", global_left_behind},
             {"right", right}};

int main(int argc, char **argv) {
    outer = allod_region_create();
    inner = allod_region_create();
    allod_root_add(&global);
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            global = ALLOD_NIL;
            allod_region_exit(outer);
            return 0;
        }
    return 2;
}
