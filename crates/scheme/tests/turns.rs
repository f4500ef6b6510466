//! Loops whose turns replace what the last one made: that is dropped where nothing needs it, and nowhere else.

mod common;

use common::{NUMBERS, placed, procedure, stats};

/// Procedures `f` in which turns drop what they replace.
const REPLACED: &[(&str, &str)] = &[
    (
        "a list that only the end needs",
        "(define (f n) (let loop ((i n) (l '())) (if (= i 0) (length l) (loop (- i 1) (numbers i))))) (write (f 50))",
    ),
    (
        "a list that is the result",
        "(define (f n) (do ((i n (- i 1)) (l '() (numbers i))) ((= i 0) l))) (write (f 50))",
    ),
    (
        "a vector that is changed",
        "(define (f n)
           (let loop ((i n) (v (vector 0)))
             (vector-set! v 0 (list i))
             (if (= i 0) (vector-ref v 0) (begin (vector-length v) (loop (- i 1) (make-vector 9 i))))))
         (write (f 50))",
    ),
    (
        "what the first part of a turn needs",
        "(define (f n)
           (let loop ((i n) (l (numbers 3)) (s 0))
             (if (= i 0) s (let ((s (+ s (sum l)))) (loop (- i 1) (list i s) s)))))
         (write (f 50))",
    ),
    (
        "by loops that go to each other",
        "(define (f n)
           (letrec ((a (lambda (i l) (if (= i 0) l (b (- i 1) (numbers i)))))
                    (b (lambda (i l) (if (= i 0) l (a (- i 1) (numbers (* 2 i)))))))
             (a n '())))
         (write (list (f 50) (f 51)))",
    ),
    (
        "by a loop around a loop, and by that one",
        "(define (f n)
           (let outer ((i n) (l '()))
             (if (= i 0) l
                 (let inner ((j i) (m '()))
                   (if (= j 0) (outer (- i 1) m) (inner (- j 1) (numbers j)))))))
         (write (f 20))",
    ),
    (
        "before an error",
        "(define (f n)
           (let loop ((i n) (l '()))
             (if (= i 0) (if (null? l) (error \"none\") (sum l)) (loop (- i 1) (numbers i)))))
         (write (f 50))",
    ),
];

/// Procedures `f` whose turns keep what they make, because of what stands first.
const CARRIED: &[(&str, &str)] = &[
    (
        "the next turn makes its value of the last one",
        "(define (f n) (let loop ((i n) (l '())) (if (= i 0) l (loop (- i 1) (append l (numbers 1))))))
         (write (f 9))",
    ),
    (
        "the value of the turn before the last one is carried",
        "(define (f n) (let loop ((i n) (l '()) (m '())) (if (= i 0) (list l m) (loop (- i 1) m (numbers i)))))
         (write (f 9))",
    ),
    (
        "a turn's value is stored",
        "(define cell (list 0))
         (define (f n) (let loop ((i n) (l '())) (set-cdr! cell l) (if (= i 0) 0 (loop (- i 1) (numbers i)))))
         (f 9) (numbers 50) (write cell)",
    ),
    (
        "a loop within needs the value that the loop around it carries",
        "(define (f n)
           (let outer ((i n) (l '(1)) (s 0))
             (if (= i 0) s
                 (let ((m (numbers i)))
                   (let inner ((j (vector-length (make-vector i 0))) (s s))
                     (if (= j 0) (outer (- i 1) m s) (inner (- j 1) (+ s (sum m) (sum l)))))))))
         (write (f 9))",
    ),
    (
        "a continuation is captured",
        "(define k #f) (define count 0)
         (define (f n)
           (let loop ((i n) (l '()))
             (if (= i 0) l (begin (if (= i 3) (call/cc (lambda (c) (set! k c)))) (loop (- i 1) (numbers i))))))
         (define (g) (write (f 9)) (set! count (+ count 1)) (numbers 50) (if (< count 3) (k 0)))
         (g)",
    ),
    (
        "the largest is kept",
        "(define (f n)
           (let loop ((i n) (best '()))
             (if (= i 0) best
                 (let ((l (numbers (modulo (* i 7) 11)))) (loop (- i 1) (if (< (length best) (length l)) l best))))))
         (write (f 20))",
    ),
];

#[test]
fn turns_drop_what_they_replace_and_keep_what_they_carry() {
    for (all, drops) in [(REPLACED, true), (CARRIED, false)] {
        for (what, text) in all {
            let placed = placed(&format!("{NUMBERS}{text}"));
            let f = procedure(&placed, "f");
            assert_eq!(f.contains("again "), drops, "{what}: {f}");
        }
    }
}

#[test]
fn loops_print_the_same_with_scopes_and_without_them() {
    for (i, (what, text)) in REPLACED.iter().chain(CARRIED).enumerate() {
        common::prints_without_scopes_too(what, text, i);
    }
}

#[test]
fn a_loop_whose_turns_replace_what_they_carry_needs_no_evacuation() {
    let all = [
        ("(numbers 200)", 30000),
        ("(make-vector 100000 i)", 300),
        ("(make-string 50000 #\\a)", 600),
    ];
    for (carried, turns) in all {
        let told = stats(&format!(
            "{NUMBERS}(define (f n)
               (let loop ((i n) (last '())) (if (= i 0) last (loop (- i 1) {carried}))))
             (f {turns})"
        ));
        assert_eq!(told("evacuations"), 0.0, "{carried}");
        assert!(told("dropped by scope") > 50.0 && told("most held") < 16.0, "{carried}");
    }
}
