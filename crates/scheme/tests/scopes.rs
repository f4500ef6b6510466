//! Scopes: what may be dropped is, and what must not is kept.
//!
//! Checked programs fill what a scope drops with addresses that cannot be read, so that a scope which is too short ends the
//! program.

mod common;

use common::{NUMBERS, placed, prints, procedure, quick, stats, usual};

/// Procedures `f` in which something is dropped.
const DROPPED: &[(&str, &str)] = &[
    ("the argument of a call that gives a number", "(define (f n) (+ 1 (sum (numbers n)))) (write (f 5))"),
    ("before a call in tail position", "(define (f n) (sum (list (sum (numbers n)) 1))) (write (f 5))"),
    (
        "in each turn of a loop",
        "(define (f n) (let loop ((i 0) (all 0)) (if (< i n) (loop (+ i 1) (+ all (length (numbers i)))) all)))
         (write (f 9))",
    ),
    (
        "on each path",
        "(define (f n) (let ((l (numbers n))) (if (null? l) 0 (if (pair? (cdr l)) (length l) (- (car l))))))
         (write (list (f 0) (f 1) (f 5)))",
    ),
    (
        "what is stored in what is as new",
        "(define (f n) (let ((v (make-vector 3 0))) (vector-set! v 1 (numbers n)) (length (vector-ref v 1))))
         (write (f 5))",
    ),
    (
        "where an error ends the other path",
        "(define (f n) (let ((l (numbers n))) (if (null? l) (error \"none\" l) (length l)))) (write (f 5))",
    ),
    (
        "where a procedure fills what it is given",
        "(define (fill! v l) (vector-set! v 0 l) (if (null? l) 0 (fill! v (cdr l))))
         (define (f n) (+ 1 (fill! (make-vector 1 #f) (numbers n)))) (write (f 4))",
    ),
    (
        "where a part of what is older is given back",
        "(define all (numbers 9))
         (define (f n) (let ((key (length (numbers n)))) (memv key all))) (write (f 3))",
    ),
    (
        "where numbers are counted in a vector",
        "(define (f v n) (vector-set! v 0 (+ (vector-ref v 0) (sum (numbers n)))))
         (define v (vector 1)) (f v 5) (write v)",
    ),
    (
        "where a procedure is called that was given",
        "(define (keep ok? l) (if (null? l) '() (if (ok? (car l)) (cons (car l) (keep ok? (cdr l))) (keep ok? (cdr l)))))
         (define (f n) (length (keep (lambda (x) (< x n)) (numbers 9)))) (write (f 5))",
    ),
    (
        "where a procedure is called that lies in a list",
        "(define all (list (cons 'sum sum) (cons 'length length) (cons 'two (lambda (l) 2))))
         (define (f key n) (+ 1 ((cdr (assq key all)) (numbers n))))
         (write (list (f 'sum 5) (f 'length 3)))",
    ),
    (
        "where something is displayed",
        "(define (f n) (let ((l (numbers n))) (display l) (newline) (length l))) (write (f 5))",
    ),
    (
        "where a procedure is applied to a list",
        "(define (f . l) (+ 1 (apply + (numbers (length l))))) (write (f 1 2 3)) (write (apply f (numbers 4)))",
    ),
    (
        "where records of a type that is older lead to each other",
        "(define-record-type thing (node next) node? (next next set-next!))
         (define (last n) (if (next n) (last (next n)) n))
         (define (f n) (let ((a (node #f)) (b (node #f))) (set-next! (last a) b) (set-next! (last a) (node #f))
           (if (next (next a)) n 0)))
         (write (f 5))",
    ),
    (
        "where what is given may be a constant, which nothing is stored in",
        "(define (infer e env)
           (cond ((symbol? e) (cdr (assq e env)))
                 ((number? e) (vector 'unknown))
                 (else (let* ((f (infer (car e) env)) (x (infer (cadr e) env))) (vector-set! f 0 x) f))))
         (define all '((a 1) (2 a)))
         (define (f n) (vector-length (infer (list-ref all n) (list (cons 'a (vector 1))))))
         (write (list (f 0) (f 1)))",
    ),
    (
        "where a part of a constant was found before",
        "(define all '((a 1) (2 a)))
         (define (put! e v) (if (pair? e) (put! (cdr e) v) (vector-set! (if (null? e) v e) 0 (list v))) v)
         (define (f n) (let ((one (list-ref all n))) (vector-length (put! one (vector n)))))
         (write (list (f 0) (f 1)))",
    ),
    (
        "where what is stored in a closure is of no use any more",
        "(define (f n) (let* ((l '()) (put! (lambda (x) (set! l (cons x l)))))
           (for-each put! (numbers n)) (length l)))
         (write (f 5))",
    ),
];

/// Procedures `f` in which nothing may be dropped, because of what stands first.
const KEPT: &[(&str, &str)] = &[
    ("a vector", "(define (f v n) (let ((l (numbers n))) (vector-set! v 0 l) (sum l)))
      (define v (vector 0)) (write (f v 5)) (write v)"),
    ("a global", "(define g 0) (define (f n) (let ((l (numbers n))) (set! g l) (length l))) (write (f 5)) (write g)"),
    (
        "through a parameter",
        "(define (put! p x) (if (pair? (cdr p)) (put! (cdr p) x) (set-cdr! p x)))
         (define (f p n) (let ((l (numbers n))) (put! p l) (length l)))
         (define p (list 1)) (write (f p 5)) (write p)",
    ),
    (
        "through a parameter of another name for the same",
        "(define (both! a b x) (set-car! a x) (set-car! (car b) (numbers 3)) (if (null? (car x)) (both! a b x) 1))
         (define (f x) (let ((p (list 0))) (both! p p x)))
         (define x (list 7)) (write (f x)) (write x)",
    ),
    ("a captured local", "(define (make) (let ((c '())) (lambda (x) (set! c (if x (numbers x) c)) c)))
      (define k (make)) (define (f n) (length (k n))) (write (f 5)) (write (k #f))"),
    (
        "a handler that comes back",
        "(define seen '())
         (define (f n) (let ((l (numbers n))) (raise-continuable l) (length l)))
         (write (with-exception-handler (lambda (c) (set! seen c) 0) (lambda () (f 5)))) (write seen)",
    ),
    (
        "a continuation that is entered again",
        "(define k #f) (define count 0)
         (define (f n) (let ((l (numbers n))) (call/cc (lambda (here) (set! k here))) (sum l)))
         (write (f 5)) (set! count (+ count 1)) (numbers 50) (if (< count 3) (k 0))",
    ),
    ("a port", "(define (f n) (let ((p (open-input-string (number->string n)))) (if (char? (read-char p)) 1 0)))
      (write (f 5)) (let loop ((i 0)) (if (< i 99) (begin (f i) (loop (+ i 1)))))"),
    ("the rest of a list of characters", "(define (f s) (cdr (string->list s))) (define a (f \"hello\")) (numbers 9) (write a)"),
    ("the rest of a list of the same", "(define (f n) (cdr (make-list n 'a))) (define a (f 4)) (numbers 9) (write a)"),
    (
        "what lies deeper in a copy",
        "(define (f l) (cddr (list-copy l))) (define a (f (numbers 5))) (numbers 9) (write a)",
    ),
    (
        "what lies deeper in what was read",
        "(define (f p) (cddr (read p)))
         (define p (open-input-string \"(1 2 3 4)\")) (define a (f p)) (numbers 9) (write a)",
    ),
    (
        "a procedure that was given",
        "(define seen '())
         (define (each! do l) (if (pair? l) (begin (do l) (each! do (cdr l)))))
         (define (f do n) (let ((l (numbers n))) (each! do l) (length l)))
         (write (f (lambda (l) (set! seen l)) 5)) (write (f (lambda (l) 0) 5)) (write seen)",
    ),
    (
        "a primitive that is a value",
        "(define all (list vector-set! (lambda (v i x) 0)))
         (define (f v n) (let ((l (numbers n))) ((car all) v 0 l) (length l)))
         (define v (vector 0)) (write (f v 5)) (write v)",
    ),
    (
        "what is applied to a list",
        "(define all (list set-cdr! (lambda (a b) 0)))
         (define (f p n) (let ((l (numbers n))) (apply (car all) (list p l)) (length l)))
         (define p (list 1)) (write (f p 5)) (write p)",
    ),
    (
        "a list of further arguments",
        "(define seen '())
         (define all (list (lambda (a . more) (set! seen more)) (lambda (a b) 0)))
         (define (f n) (let ((l (numbers n))) ((car all) 1 l) (length l)))
         (write (f 5)) (write seen)",
    ),
    (
        "call/cc that is a value",
        "(define k #f) (define count 0) (define all (list call/cc))
         (define (f n) (let ((l (numbers n))) (apply (car all) (list (lambda (here) (set! k here)))) (sum l)))
         (write (f 5)) (set! count (+ count 1)) (numbers 50) (if (< count 3) (k 0))",
    ),
    (
        "an object that an error leads to",
        "(define keep! (lambda (c) (set! seen (error-object-irritants c)) 0)) (define seen '())
         (define (f n) (let ((l (numbers n))) (raise-continuable l) (length l)))
         (write (with-exception-handler (lambda (c) (keep! (guard (e (#t e)) (error \"none\" c)))) (lambda () (f 5))))
         (write seen)",
    ),
    (
        "a record whose type is as new",
        "(define (f n) (define-record-type thing (node next) node? (next next)) (node n))
         (define a (f 5)) (numbers 9) (write (procedure? car)) (define b (f 6)) (write (eq? a b))",
    ),
    ("a promise", "(define p (delay (numbers 3))) (define (f q) (length (force q))) (write (f p)) (write (force p))"),
    (
        "a parameter object",
        "(define p (make-parameter '()))
         (define (f n) (parameterize ((p (numbers n))) (length (p)))) (write (f 4)) (write (p))",
    ),
];

#[test]
fn a_primitive_that_is_a_value_takes_as_many_arguments_as_it_is_given() {
    let many = "l ".repeat(300);
    let text = format!(
        "{NUMBERS}(define all (list vector (lambda (x) 0)))
         (define (f n) (let ((l (numbers n))) ((car all) {many})))
         (define a (f 5)) (numbers 50) (write (vector-ref a 299))"
    );
    assert!(!procedure(&placed(&text), "f").contains("mark "));
    let all = format!("(define (g n) (vector-length (f n))) (write (g 3)) {text}");
    assert!(procedure(&placed(&all), "g").contains("mark "));
    assert_eq!(prints("many", &text, &quick("gcc")), "(5 4 3 2 1)");
}

#[test]
fn what_nothing_needs_any_more_is_dropped() {
    for (what, text) in DROPPED {
        let placed = placed(&format!("{NUMBERS}{text}"));
        let f = procedure(&placed, "f");
        assert!(f.contains("mark ") && f.contains("release "), "{what}: {f}");
    }
}

#[test]
fn what_is_older_keeps_what_is_stored_in_it() {
    for (what, text) in KEPT {
        let placed = placed(&format!("{NUMBERS}{text}"));
        let f = procedure(&placed, "f");
        assert!(!f.contains("mark "), "{what}: {f}");
    }
}

#[test]
fn programs_print_the_same_with_scopes_and_without_them() {
    for (i, (what, text)) in DROPPED.iter().chain(KEPT).enumerate() {
        common::prints_without_scopes_too(what, text, i);
    }
}

#[test]
fn symbols_outlive_the_scope_they_were_made_in() {
    let text = format!(
        "{NUMBERS}(define (f s) (string->symbol (string-append s (number->string (length (numbers 3))))))
         (define a (f \"name\")) (numbers 99) (write (list a (eq? a (f \"name\")) (symbol->string a)))"
    );
    assert!(procedure(&placed(&text), "f").contains("release "));
    assert_eq!(prints("symbols", &text, &quick("gcc")), "(name3 #t \"name3\")");
}

#[test]
fn a_number_that_is_an_object_is_kept() {
    let text = format!(
        "{NUMBERS}(define total 0) (define v (vector 0 0.5))
         (define (power l) (if (null? l) 1 (* 1000000007 (power (cdr l)))))
         (define (f n) (+ 1 (power (numbers n))))
         (define (g! n) (set! total (+ total (power (numbers n)))) (vector-set! v 0 (power (numbers n))) n)
         (define (h! n) (let ((n (+ (g! n) (length (numbers n))))) (numbers 50) n))
         (define all (list vector-set! (lambda (v i x) 0)))
         (define (k! n) (let ((n (+ 1 (begin ((car all) v 1 (power (numbers n))) (length (numbers n)))))) (numbers 50) n))
         (write (list (f 1) (f 3) (h! 4) (h! 5) (k! 6) total v))"
    );
    let placed = placed(&text);
    assert!(placed.contains("unless object") && placed.contains("keep "), "{placed}");
    let plain = common::prints_as("plain", &text, &common::without(Some("regions")), &usual("gcc"));
    for cc in ["gcc", "clang"] {
        assert_eq!(prints("numbers", &text, &quick(cc)), plain);
        assert_eq!(prints("numbers", &text, &usual(cc)), plain);
    }
}

#[test]
fn a_loop_whose_turns_drop_what_they_make_needs_no_evacuation() {
    let told = stats(&format!(
        "{NUMBERS}(define (f n i) (if (> i 0) (begin (sum (numbers n)) (f n (- i 1)))))
         (f 10000 300) (f 100000 5)"
    ));
    assert_eq!(told("evacuations"), 0.0);
    assert!(told("dropped by scope") > 50.0 && told("most held") < 16.0);
}

#[test]
fn large_vectors_are_given_back_with_their_scope() {
    let told = stats(
        "(define (f n) (vector-length (make-vector n 1)))
         (let loop ((i 0)) (if (< i 500) (begin (f (+ 100000 i)) (loop (+ i 1)))))",
    );
    assert_eq!(told("evacuations"), 0.0);
    assert!(told("dropped by scope") > 300.0 && told("most held") < 16.0);
}

#[test]
fn a_large_vector_outlives_a_scope_that_begins_with_an_empty_chunk() {
    let text = "(define (f n) (let loop ((i 0) (l '())) (if (< i n) (loop (+ i 1) (cons i l)) (length l))))
         (define (g n m)
           (f n)
           (let ((v (make-vector m 1)))
             (f n)
             (let ((w (make-vector m 7)))
               (let loop ((i 0) (s 0))
                 (if (< i m) (loop (+ i 1) (+ s (vector-ref v i))) (+ s (vector-ref w 0)))))))
         (define (wrong n m) (if (= (g n m) (+ m 7)) 0 1))
         (let loop ((n 1000) (all 0))
           (if (< n 400000)
               (loop (quotient (* n 9) 8) (+ all (wrong n 20000) (wrong n 70000) (wrong n 300000)))
               (write all)))";
    assert!(procedure(&placed(text), "g").contains("release "));
    assert_eq!(prints("large", text, &usual("gcc")), "0");
}
