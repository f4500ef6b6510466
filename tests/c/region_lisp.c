/* A small Lisp on regions: a fresh region for each top-level form, results transmigrated.
 * modes: shared archive static
 *
 * What is defined lives in the global region; what a form makes lives in the form's region, whose
 * parent is the global one, and goes when the form is done. Only the result leaves, to the region of
 * the answer. A million forms must not make the process grow. */
#define _GNU_SOURCE
#include <allod/region.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#ifndef FORMS
#define FORMS 1000000
#endif

static allod_region *global;
static allod_value definitions; /* dict: symbol to value, in the global region */

#define SYMBOL(name, text) static allod_symbol_cell name = ALLOD_SYMBOL_CELL(text)
SYMBOL(s_quote, "quote");
SYMBOL(s_if, "if");
SYMBOL(s_lambda, "lambda");
SYMBOL(s_define, "define");
SYMBOL(s_add, "+");
SYMBOL(s_sub, "-");
SYMBOL(s_less, "<");
SYMBOL(s_cons, "cons");
SYMBOL(s_car, "car");
SYMBOL(s_cdr, "cdr");

/* ---- Reader ---- */

static void blanks(const char **p) { *p += strspn(*p, " \n"); }

static allod_value read_form(allod_region *r, const char **p) {
    blanks(p);
    if (**p == '(') {
        allod_value first = ALLOD_NIL, last = ALLOD_NIL;
        for (++*p, blanks(p); **p != ')'; blanks(p)) {
            allod_value node = allod_pair(r, read_form(r, p), ALLOD_NIL);
            if (first == ALLOD_NIL) first = node;
            else allod_set_cdr(last, node);
            last = node;
        }
        ++*p;
        return first;
    }
    size_t n = strcspn(*p, " ()\n");
    const char *start = *p;
    *p += n;
    char *end;
    long long i = strtoll(start, &end, 10);
    return end == *p ? allod_int(r, i) : allod_symbol(start, n);
}

/* ---- Evaluator ---- */

static allod_value eval(allod_region *r, allod_value form, allod_value env);

static allod_value lookup(allod_value symbol, allod_value env) {
    for (; env != ALLOD_NIL; env = allod_cdr(env))
        if (allod_car(allod_car(env)) == symbol) return allod_cdr(allod_car(env));
    allod_value v = allod_dict_get(definitions, symbol);
    CHECK(v != ALLOD_EMPTY);
    return v;
}

static int64_t number(allod_region *r, allod_value form, allod_value env) {
    return allod_int_value(eval(r, form, env));
}

static allod_value apply(allod_region *r, allod_value f, allod_value args, allod_value env) {
    CHECK(allod_type_of(f) == ALLOD_CLOSURE);
    allod_value inner = allod_captured(f, 2);
    for (allod_value p = allod_captured(f, 0); p != ALLOD_NIL; p = allod_cdr(p)) {
        allod_value bound = allod_pair(r, allod_car(p), eval(r, allod_car(args), env));
        inner = allod_pair(r, bound, inner);
        args = allod_cdr(args);
    }
    return eval(r, allod_captured(f, 1), inner);
}

static allod_value eval(allod_region *r, allod_value form, allod_value env) {
    if (allod_type_of(form) == ALLOD_SYMBOL) return lookup(form, env);
    if (allod_type_of(form) != ALLOD_PAIR) return form;
    allod_value op = allod_car(form), args = allod_cdr(form);
    if (op == allod_symbol_in(&s_quote)) return allod_car(args);
    if (op == allod_symbol_in(&s_if)) {
        bool yes = eval(r, allod_car(args), env) != ALLOD_FALSE;
        return eval(r, allod_car(yes ? allod_cdr(args) : allod_cdr(allod_cdr(args))), env);
    }
    if (op == allod_symbol_in(&s_lambda)) {
        allod_value captured[3] = {allod_car(args), allod_car(allod_cdr(args)), env};
        return allod_closure(r, NULL, captured, 3);
    }
    if (op == allod_symbol_in(&s_define)) {
        /* The barrier copies the value out of the form's region. */
        CHECK(allod_dict_set(definitions, allod_car(args), eval(r, allod_car(allod_cdr(args)), env)));
        return allod_car(args);
    }
    if (op == allod_symbol_in(&s_add))
        return allod_int(r, number(r, allod_car(args), env) + number(r, allod_car(allod_cdr(args)), env));
    if (op == allod_symbol_in(&s_sub))
        return allod_int(r, number(r, allod_car(args), env) - number(r, allod_car(allod_cdr(args)), env));
    if (op == allod_symbol_in(&s_less))
        return allod_bool(number(r, allod_car(args), env) < number(r, allod_car(allod_cdr(args)), env));
    if (op == allod_symbol_in(&s_cons)) {
        allod_value car = eval(r, allod_car(args), env);
        return allod_pair(r, car, eval(r, allod_car(allod_cdr(args)), env));
    }
    if (op == allod_symbol_in(&s_car)) return allod_car(eval(r, allod_car(args), env));
    if (op == allod_symbol_in(&s_cdr)) return allod_cdr(eval(r, allod_car(args), env));
    return apply(r, eval(r, op, env), args, env);
}

/* Evaluates one top-level form; the result lives in `answer`. */
static allod_value top_level(allod_region *answer, const char *text) {
    allod_region *r = allod_region_create_in(global);
    CHECK(r != NULL);
    allod_value result = eval(r, read_form(r, &text), ALLOD_NIL);
    CHECK(allod_region_exit_with(r, answer, &result, 1));
    return result;
}

static bool prints(const char *text, const char *expected) {
    char buffer[200];
    allod_region *answer = allod_region_create_in(global);
    allod_print(top_level(answer, text), buffer, sizeof buffer);
    allod_region_exit(answer);
    if (strcmp(buffer, expected) != 0) fprintf(stderr, "%s: %s, not %s\n", text, buffer, expected);
    return strcmp(buffer, expected) == 0;
}

static long resident_kib(void) {
    long total, resident;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f != NULL && fscanf(f, "%ld %ld", &total, &resident) == 2);
    fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(void) {
    global = allod_region_create();
    definitions = allod_dict(global, 16);
    allod_root_add(&definitions);

    CHECK(prints("(quote (1 (2 x) -3))", "(1 (2 x) -3)"));
    CHECK(prints("(define count (lambda (n) (if (< n 1) (quote ()) (cons n (count (- n 1))))))", "count"));
    CHECK(prints("(count 5)", "(5 4 3 2 1)"));
    CHECK(prints("(define add (lambda (a) (lambda (b) (+ a b))))", "add"));
    CHECK(prints("(define add7 (add 7))", "add7"));
    CHECK(prints("(add7 1152921504606846975)", "1152921504606846982"));
    CHECK(prints("(define fib (lambda (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))))", "fib"));
    CHECK(prints("(fib 20)", "6765"));

    long before = 0;
    size_t live = allod_region_account(global).live;
    for (int i = 0; i < FORMS; i++) {
        allod_region *answer = allod_region_create_in(global);
        allod_value v = top_level(answer, "(cons (add7 35) (count 3))");
        CHECK(allod_int_value(allod_car(v)) == 42 && allod_region_of(allod_object(v)) == answer);
        allod_region_exit(answer);
        if (i == 10000) before = resident_kib();
    }
    long after = resident_kib();
    printf("%d forms: %ld KiB resident, %ld KiB more than after 10000; the global region holds %zu bytes\n",
           FORMS, after, after - before, allod_region_account(global).live);
    CHECK(after - before < 256 && allod_region_account(global).live == live);
    allod_root_remove(&definitions);
    allod_region_exit(global);
    return 0;
}
