//! Each pass by itself: a source beside what the pass gives.

use allod_scheme::{OPTIONAL, PASSES, Settings, Sources, compile};
use std::path::Path;

/// What a pass gives, where others that may be left out are.
fn after(pass: &str, text: &str) -> String {
    let mut sources = Sources::new(Path::new("."));
    // The last one needs the one before.
    let needed = |other: &str| other == pass || (pass == "unbox" && other == "types");
    let others = OPTIONAL.iter().filter(|other| !needed(other));
    let settings = Settings {
        dump: Some(pass.into()),
        disabled: others.map(|other| other.to_string()).collect(),
        ..Settings::default()
    };
    let shown = compile(&mut sources, Path::new("test.scm"), text.into(), &settings).unwrap();
    shown.trim_end().to_owned()
}

/// Compares without the numbers of variables, which change with the prelude.
fn gives(pass: &str, text: &str, expected: &str) {
    let shown = after(pass, text);
    let mut plain = String::new();
    let mut chars = shown.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '.' && chars.peek().is_some_and(char::is_ascii_digit) {
            while chars.next_if(char::is_ascii_digit).is_some() {}
        } else {
            plain.push(c);
        }
    }
    assert_eq!(plain, expected, "{text}");
}

#[test]
fn expand_leaves_only_the_core() {
    gives(
        "expand",
        "(let* ((x 1) (y x)) (cond ((eq? x y) => car) (else (list x))))",
        "(let ((x 1)) (let ((y x)) (let ((test (#eq? x y))) (if test (#car test) (#cons x '())))))",
    );
    gives(
        "expand",
        "(define (f x) (or (f 1) x))",
        "(define f (lambda ((x) (let ((or (f 1))) (if or or x)))))",
    );
    gives(
        "expand",
        "(let loop ((i 0)) (if (< i 3) (loop (+ i 1))))",
        "(letrec* ((loop (lambda ((i) (if (#%num< i 3) (loop (#%add i 1)) #unspecified))))) (loop 0))",
    );
}

#[test]
fn expand_keeps_what_macros_add_apart_from_what_they_are_given() {
    gives(
        "expand",
        "(define-syntax my-or (syntax-rules () ((_ a b) (let ((t a)) (if t t b))))) (let ((t 1)) (my-or #f t))",
        "(let ((t 1)) (let ((t #f)) (if t t t)))",
    );
    let shown = after(
        "expand",
        "(define-syntax my-or (syntax-rules () ((_ a b) (let ((t a)) (if t t b))))) (let ((t 1)) (my-or #f t))",
    );
    let words: Vec<&str> = shown.split(['(', ')', ' ']).filter(|w| w.starts_with("t.")).collect();
    let [outer, inner, test, same, other] = words[..] else { panic!("{shown}") };
    assert!(outer == other && inner == test && test == same && outer != inner, "{shown}");
}

#[test]
fn reach_drops_what_nothing_needs() {
    gives(
        "reach",
        "(define (used) 1) (define (unused) (used)) (define effect (display 1)) (used)",
        "(define used (lambda (() 1)))\n(define effect (display 1))\n(used)",
    );
}

#[test]
fn letrec_binds_lambdas_only() {
    gives(
        "letrec",
        "(let () (define a 1) (define (f) (g)) (define (g) (f)) (define b (f)) (list a b))",
        "(let ((a 1)) (letrec* ((f (lambda (() (g)))) (g (lambda (() (f))))) (let ((b (f))) (#cons a (#cons b '())))))",
    );
    gives(
        "letrec",
        "(letrec ((x (lambda () y)) (y (x))) y)",
        "(let ((y #unbound)) (letrec* ((x (lambda (() y)))) (begin (set! y (x)) y)))",
    );
    gives("letrec", "((lambda (x) (+ x 1)) 2)", "(let ((x 2)) (#%add x 1))");
}

#[test]
fn inline_puts_small_known_procedures_in_place() {
    gives(
        "inline",
        "(define (twice x) (+ x x)) (list (twice (car '(1)))) (list (twice 2))",
        "(#cons (let ((x (#car '(1)))) (#%add x x)) '())\n(#cons (#%add 2 2) '())",
    );
    gives(
        "inline",
        "(define (f x) (if (null? x) 0 (+ 1 (f (cdr x))))) (f '(1))",
        "(define f (lambda ((x) (if (#null? x) 0 (#%add 1 (f (#cdr x)))))))\n(f '(1))",
    );
}

#[test]
fn inline_knows_a_procedure_that_is_given_to_another() {
    gives(
        "inline",
        "(define l (list 1 2)) (map (lambda (x) (* x x)) l)",
        "(define l (#cons 1 (#cons 2 '())))\n\
         (let ((list l)) \
         (letrec* ((loop (lambda ((list done) (if (#pair? list) \
         (loop (#cdr list) (#cons (let ((x (#car list))) (#%mul x x)) done)) \
         (begin (if (#not (#null? list)) (#%fail-type 'map 2 \"a list\" list) #unspecified) \
         (#reverse done))))))) \
         (loop list '())))",
    );
}

#[test]
fn inline_makes_a_primitive_of_two_of_an_order_that_is_given() {
    let shown = after("inline", "((lambda (less? l) (less? (car l) (cdr l))) < (read))");
    assert!(shown.lines().last().is_some_and(|line| line.contains("#%num<")), "{shown}");
}

/// A chain of procedures with one call each would become one definition, in which what each needs after its
/// call is stored and loaded around all calls of the others.
#[test]
fn inline_does_not_put_a_whole_program_into_one_procedure() {
    let chain = |n: usize| {
        let mut text = String::from("(define (p0 x l) (+ x (length l)))");
        for i in 1..n {
            text += &format!(
                "(define (p{i} x l) (let ((v (vector-map car (list->vector l))))
                   (+ (vector-ref v 0) (p{} (apply + x (vector->list v)) (cdr l)))))",
                i - 1
            );
        }
        let text = format!("{text} (write (p{} 1 (read)))", n - 1);
        let mut sources = Sources::new(Path::new("."));
        compile(&mut sources, Path::new("test.scm"), text, &Settings::default()).unwrap().len()
    };
    let (some, many) = (chain(100), chain(400));
    assert!(many < 5 * some, "four times the program becomes {some}, then {many} bytes of C");
}

/// Each repetition of a macro's template needs only its own part of what was matched.
#[test]
fn a_macro_with_many_arguments_expands_in_linear_time() {
    let arguments: String = (0..20_000).map(|i| format!("({i} {i}) ")).collect();
    let text = format!(
        "(define-syntax pairs (syntax-rules () ((_ (a b) ...) '((a . b) ...)))) (write (pairs {arguments}))"
    );
    let began = std::time::Instant::now();
    assert!(after("expand", &text).ends_with("(19999 . 19999)))"));
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

#[test]
fn assign_puts_assigned_locals_into_boxes() {
    gives(
        "assign",
        "(lambda (x y) (set! x y) x)",
        "(lambda ((x y) (let ((x (#%box x))) (begin (#%set-box! x y) (#%unbox x)))))",
    );
}

#[test]
fn loops_finds_procedures_that_are_places_to_go_to() {
    gives(
        "loops",
        "(let loop ((i 0)) (if (zero? i) i (loop i)))",
        "(loops ((loop (lambda ((i) (if (#zero? i) i (loop i)))))) (loop 0))",
    );
    gives(
        "loops",
        "(let loop ((i 0)) (+ 1 (loop i)))",
        "(letrec* ((loop (lambda ((i) (#%add 1 (loop i)))))) (loop 0))",
    );
    gives(
        "loops",
        "(let loop ((i 0)) (car loop))",
        "(letrec* ((loop (lambda ((i) (#car loop))))) (loop 0))",
    );
}

#[test]
fn peel_tests_before_calls_what_the_procedure_would_test_first() {
    gives(
        "peel",
        "(define (f n) (if (< n 2) n (+ (f (- n 1)) (f n)))) (f 9)",
        "(define f* (lambda ((n) (#%add (let ((n (#%sub n 1))) (if (#%num< n 2) n (f* n))) (if (#%num< n 2) n (f* n))))))\n\
         (if (#%num< 9 2) 9 (f* 9))",
    );
    // Further tests with a cheap branch, and what is bound between them.
    gives(
        "peel",
        "(define (f a b) (and (pair? b) (let ((c (car b))) (or (null? a) (f c (f a c)))))) (f 1 2)",
        "(define f* (lambda ((a b) (let ((c (#car b))) \
         (let ((b (if (#pair? c) (let ((c (#car c))) (if (#null? a) #t (f* a c))) #f))) \
         (if (#pair? b) (let ((c (#car b))) (if (#null? c) #t (f* c b))) #f))))))\n\
         (if (#pair? 2) (let ((c (#car 2))) (if (#null? 1) #t (f* 1 2))) #f)",
    );
}

#[test]
fn peel_keeps_the_whole_procedure_as_a_value() {
    gives(
        "peel",
        "(define (f l) (if (pair? l) (cons (f (car l)) f) l)) (f 1)",
        "(define f (lambda ((l) (if (#pair? l) (f* l) l))))\n\
         (define f* (lambda ((l) (#cons (let ((l (#car l))) (if (#pair? l) (f* l) l)) f))))\n\
         (if (#pair? 1) (f* 1) 1)",
    );
    // A local one would need two closures then.
    let kept = "(let () (define (f l) (if (pair? l) (cons (f (car l)) f) l)) (f 1))";
    assert_eq!(after("peel", kept), after("loops", kept));
}

#[test]
fn peel_leaves_local_procedures_nothing_but_the_rest_if_they_are_only_called() {
    gives(
        "peel",
        "(let loop ((i 0)) (if (null? i) '() (cons 1 (loop i))))",
        "(letrec* ((loop* (lambda ((i) (#cons 1 (if (#null? i) '() (loop* i))))))) (if (#null? 0) '() (loop* 0)))",
    );
}

#[test]
fn peel_leaves_alone_what_it_cannot_do_cheaply() {
    for text in [
        // Both branches are more than that, or neither is.
        "(define (f n) (if (null? n) (f 1) (f 2))) (f 3)",
        // The test calls something, makes something, or changes something.
        "(define (f n) (if (f (f n)) n (f 2))) (f 3)",
        "(define (f n) (if (eq? (cons n n) n) n (f 2))) (f 3)",
        "(define (f n) (if (vector-fill! n 1) n (f 2))) (f 3)",
        // It is a test of what is not the procedure's, or may change.
        "(define g 1) (set! g 2) (define (f n) (if (null? g) n (f 2))) (f 3)",
        "(define (f n) (set! n 1) (if (null? n) n (f 2))) (f 3)",
        "(lambda (k) (define (f n) (if (null? k) n (cons 1 (f 2)))) (f 3))",
        // It takes any number of arguments, or may be another procedure.
        "(define (f . n) (if (null? n) n (f 2))) (f 3)",
        "(define (f n) (if (null? n) n (f 2))) (set! f car) (f 3)",
        // A place to go to has no call.
        "(lambda (l) (let loop ((l l)) (if (null? l) 0 (loop (cdr l)))))",
    ] {
        assert_eq!(after("peel", text), after("loops", text), "{text}");
    }
    // What a procedure of a wrong number of arguments takes is said where it is called.
    let mut sources = Sources::new(Path::new("."));
    let text = "(define (f n) (if (null? n) n (f (f 2)))) (f 3 4)";
    let wrong = compile(&mut sources, Path::new("t.scm"), text.into(), &Settings::default());
    assert!(wrong.unwrap_err().contains("f takes 1 argument, but gets 2"));
}

#[test]
fn peel_lets_types_know_what_was_tested_of_a_value_that_is_called_anywhere() {
    let text = "(define (f l) (if (pair? l) (begin (f (cdr l)) (car l)) 0)) (display f) (f (read))";
    let typed = |disabled: &[&str]| {
        let disabled = disabled.iter().map(|pass| pass.to_string()).collect();
        let settings = Settings { dump: Some("types".into()), disabled, ..Settings::default() };
        compile(&mut Sources::new(Path::new(".")), Path::new("t.scm"), text.into(), &settings)
            .unwrap()
    };
    let checks = |shown: &str| shown.matches("#car").count() + shown.matches("#cdr").count();
    assert_eq!(checks(&typed(&[])), 0);
    assert!(typed(&[]).contains("return #%pair-car"));
}

#[test]
fn turns_makes_loops_of_procedures_that_end_by_calling_themselves() {
    gives(
        "turns",
        "(define (f x) (if (null? x) (f '()) (+ 1 (f x)))) (f 1)",
        "(define f (lambda ((x) (loops ((f (lambda ((x) (if (#null? x) (f '()) (#%add 1 (f x))))))) (f x)))))\n(f 1)",
    );
    gives(
        "turns",
        "(define (f x) (if (null? x) x (f (cdr x)))) (f 1)",
        "(define f (lambda ((x) (loops ((f (lambda ((x) (if (#null? x) x (f (#cdr x))))))) (f x)))))\n(f 1)",
    );
}

#[test]
fn flow_names_every_intermediate_value_from_left_to_right() {
    let shown = after("flow", "(define (f x) x) (display (f (f (car '(1)))))");
    let top = shown.split_once("top\n").expect("the program is shown").1;
    let calls: Vec<&str> = top.lines().map(|l| l.rsplit(":= ").next().unwrap().trim()).collect();
    let [car, first, second, last] = calls[..] else { panic!("{shown}") };
    assert!(car.starts_with("#car '(1)"), "{shown}");
    assert!(first.starts_with("call-known procedure-f t."), "{shown}");
    assert!(second.starts_with("call-known procedure-f t."), "{shown}");
    assert!(last.starts_with("return call-known procedure-display t."), "{shown}");
}
#[test]
fn closure_captures_what_is_no_constant() {
    let shown = after(
        "closure",
        "(display (let ((x (car '(1)))) (define (g) 1) (lambda () (list (g) x))))",
    );
    assert_eq!(shown.matches("captures").count(), 1, "{shown}");
    assert!(shown.contains("lambda ()"), "{shown}");
}

/// The lines of a pass, without the numbers of variables.
fn lines(pass: &str, text: &str) -> String {
    let mut plain = String::new();
    let mut chars = after(pass, text).chars().collect::<Vec<_>>().into_iter().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        if c == '.' && !before.is_ascii_digit() && chars.peek().is_some_and(char::is_ascii_digit) {
            while chars.next_if(char::is_ascii_digit).is_some() {}
        } else {
            plain.push(c);
        }
        before = c;
    }
    plain
}

#[test]
fn types_leaves_out_checks_that_are_proven_to_hold() {
    for (text, line) in [
        // A test tells on its path.
        ("(define (f x) (if (pair? x) (car x) 0)) (f (read))", "return #%pair-car x"),
        // What did not fail tells, too.
        ("(define (f x) (car x) (cdr x)) (f (read))", "return #%pair-cdr x"),
        // Bounds by comparison: a sum of what is smaller than a length is small.
        (
            "(define (f v) (let loop ((i 0)) (if (< i (vector-length v)) (loop (+ i 1)) i))) (f (read))",
            "#%fxadd i 1",
        ),
        ("(define (f n) (if (< n 2) n (+ (f (- n 1)) 1))) (f 30)", "#%fxsub n 1"),
        // What a call gives and takes.
        ("(define (f p) (car p)) (f (cons 1 2))", "return #%pair-car p"),
        // Record fields.
        (
            "(define-record-type p (make x) p? (x px)) (define (f r) (px r)) (f (make 1.5))",
            "return #%field ",
        ),
    ] {
        let shown = lines("types", text);
        assert!(shown.contains(line), "{text}\n{shown}");
    }
}

#[test]
fn types_keeps_checks_that_may_fail() {
    for (text, line) in [
        ("(define (f x) (if (pair? x) 0 (car x))) (f (read))", "return #car x"),
        // Whoever gets it may call it with anything.
        ("(define (f p) (car p)) (f (cons 1 2)) (display f)", "return #car p"),
        // It may become large.
        ("(define (f i) (if (null? (read)) i (f (+ i 1)))) (f 0)", "#%add i 1"),
        // A constant must not be changed.
        ("(define (f p) (set-car! p 1)) (f '(1))", "#set-car! p 1"),
        ("(define x 1) (define (f) (car x)) (set! x (list 1)) (f)", "return #car t"),
        ("(define (f x) (set! x (read)) (car x)) (f (list 1))", "return #car t"),
    ] {
        let shown = lines("types", text);
        assert!(shown.contains(line), "{text}\n{shown}");
    }
}

#[test]
fn unbox_makes_flonums_doubles_and_boxes_them_where_values_are_wanted() {
    let shown =
        lines("unbox", "(define (f x n) (if (> x n) (list x) (f (* x 2.0) n))) (f 1.0 100.0)");
    assert!(shown.contains(":= double #%flmul x 2.0"), "{shown}");
    assert!(shown.contains("flonum := #%flonum x"), "{shown}");
    let shown = lines("unbox", "(define (f x) (lambda () x)) (f (+ 1.5 (read)))");
    assert!(!shown.contains("double x"), "a captured local stays a value: {shown}");
}

#[test]
fn regions_encloses_what_is_out_of_use_at_once() {
    let shown = lines(
        "regions",
        "(define (f p) (if (pair? p) (length (cons 1 p)) (f (vector-ref p 0)))) (f (read))",
    );
    let f = &shown[shown.find("procedure").unwrap()..shown.find("top\n").unwrap()];
    let words = f.lines().map(|line| line.trim_start().split(' ').next().unwrap());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let expected = [
        "procedure",
        "label",
        "if",
        "mark",
        "t",
        "result",
        "release",
        "return",
        "else",
        "t",
        "go",
        "go",
    ];
    assert_eq!(words, expected, "{shown}");
}

#[test]
fn live_keeps_what_is_needed_after_a_call_and_nothing_else() {
    gives_line(
        "(define (f x) (list x)) (define (h a b) (f b) (car a)) (display (h '(1) 2))",
        "call-known procedure-f b   keeps [a]",
    );
    gives_line(
        "(define (f x) (list x)) (define (h a b) (cons (f a) (f b))) (display (h 1 2))",
        "t := call-known procedure-f a   keeps [b]",
    );
}

#[test]
fn live_keeps_no_small_integers() {
    let count = "(define (count i n) (if (< i n) (cons i (count (+ i 1) n)) '()))";
    for (argument, kept) in [("(string-length (read))", false), ("(read)", true)] {
        let text = format!("{count} (write (count 0 {argument}))");
        let mut sources = Sources::new(Path::new("."));
        let settings = Some("live").into();
        let shown = compile(&mut sources, Path::new("test.scm"), text, &settings).unwrap();
        let call = shown.lines().find(|line| line.contains(":= call-known procedure-count"));
        assert!(call.is_some_and(|call| call.contains("keeps [i") == kept), "{argument}: {shown}");
    }
}

fn gives_line(text: &str, line: &str) {
    let shown = after("live", text);
    let plain: String = shown
        .lines()
        .map(|line| {
            let words = line.split(' ').map(|word| {
                let (name, end) = match word.find(']') {
                    Some(at) => word.split_at(at),
                    None => (word, ""),
                };
                name.split('.').next().unwrap_or_default().to_owned() + end
            });
            words.collect::<Vec<_>>().join(" ") + "\n"
        })
        .collect();
    assert!(plain.contains(line), "{plain}");
}

#[test]
fn every_pass_can_be_printed() {
    for pass in PASSES {
        assert!(
            !after(pass, "(define (f x) (lambda () x)) (display ((f 1)))").is_empty(),
            "{pass}"
        );
    }
}

#[test]
fn explain_tells_which_scope_drops_an_object_or_why_none_does() {
    let text = "(define g 0)\n(define (f n)\n  (length\n    (list n)))\n\
                (define (k n)\n  (set! g\n    (list n)) (length g))\n\
                (define (u h)\n  (let ((l (list\n    1))) (call/cc h) (length l)))\n(f (read))\n(k 1)\n(u (read))";
    let settings = Some("explain").into();
    let mut sources = Sources::new(Path::new("."));
    let shown = compile(&mut sources, Path::new("test.scm"), text.into(), &settings).unwrap();
    for said in [
        "cons: scope of line 4",
        "cons: evacuated, unless in a caller's scope: stored in what may be older",
        "cons: evacuated: a continuation is captured or entered",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
}

#[test]
fn explain_tells_types_and_what_is_never_boxed_under_each_line() {
    let text = "(define (norm x n)\n  (if (> x n) x (norm (* x 2.0) n)))\n\
                (define (pairs l)\n  (if (null? l) '() (cons (norm 1.0 100.0) (pairs (cdr l)))))\n(pairs (read))";
    let settings = Some("explain").into();
    let mut sources = Sources::new(Path::new("."));
    let shown = compile(&mut sources, Path::new("test.scm"), text.into(), &settings).unwrap();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "(define (norm x n)");
    assert!(shown.contains("^ doubles, never boxed"), "{shown}");
    assert!(shown.contains("cons: evacuated, unless in a caller's scope: returned"), "{shown}");
    // What its first test leaves.
    assert!(shown.contains("pairs (l: any but ()) gives pair"), "{shown}");
}

#[test]
fn live_keeps_nothing_over_calls_that_come_to_no_safe_point() {
    let kept = |text: &str| after("live", text).contains("keeps [x");
    let all = "(define (all? l) (if (pair? l) (if (all? (car l)) (all? (cdr l)) #f) #t))";
    assert!(!kept(&format!("{all} (define (f x) (if (all? x) x 1)) (f (read)) (f 2)")));
    // It makes something, or so does what it calls, or nobody knows what it calls.
    for made in ["(cons 1 2)", "(list-copy '(1))", "(lambda () l)", "(newline)"] {
        let all = all.replace("#t", made);
        assert!(
            kept(&format!("{all} (define (f x) (if (all? x) x 1)) (f (read)) (f 2)")),
            "{made}"
        );
        let calls = "(define (calls? l) (if (null? l) l (begin (calls? (car l)) (all? (cdr l)))))";
        assert!(
            kept(&format!("{all} {calls} (define (f x) (if (calls? x) x 1)) (f (read)) (f 2)")),
            "{made}"
        );
    }
    let unknown = "(define (all? g) (if (pair? g) (if (all? (cdr g)) #t #f) (g)))";
    assert!(kept(&format!("{unknown} (define (f x) (if (all? x) x 1)) (f (read)) (f 2)")));
}
