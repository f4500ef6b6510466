//! Whole programs: calls without end, deep stacks, bounded memory, ends and errors, libraries.

mod common;

use allod_scheme::{Codegen, Settings, cc};
use common::{Scratch, compile, prints, prints_as, quick, run, usual};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Output};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a program within so many bytes of addresses for each of its stacks and its data.
fn within(name: &str, text: &str, data: u64) -> Output {
    let scratch = Scratch::new(name);
    let mut command = Command::new(compile(&scratch, name, text, &usual("gcc")));
    // SAFETY: one system call.
    unsafe {
        command.pre_exec(move || {
            let limit = libc::rlimit { rlim_cur: data, rlim_max: data };
            libc::setrlimit(libc::RLIMIT_AS, &limit);
            Ok(())
        });
    }
    command.output().expect("the program starts")
}

#[test]
fn tail_calls_need_no_stack_with_gcc_and_clang_at_every_level() {
    for (cc, level) in [("gcc", 0), ("gcc", 2), ("clang", 0), ("clang", 2)] {
        let options = cc::Options { level, ..usual(cc) };
        let printed = prints("tail", include_str!("programs/tail.scm"), &options);
        assert_eq!(printed, include_str!("programs/tail.out"), "{cc} -O{level}");
    }
}

#[test]
fn a_local_without_its_inferred_type_ends_a_checked_program() {
    let scratch = Scratch::new("inferred");
    let file = scratch.file("test.scm", "(let ((m (string-length \"abc\"))) (newline) (write m))");
    let (options, settings) = (quick("gcc"), Settings { checked: true, ..Settings::default() });
    let c = cc::to_c(&file, settings).unwrap();
    let end_with = |c: &str| {
        let program = file.with_extension("");
        cc::build(c, &program, &options).unwrap();
        Command::new(&program).output().unwrap()
    };
    assert_eq!(end_with(&c).stdout, b"\n3");
    let test =
        c.lines().find(|line| line.contains(": m in the top level: fixnum")).expect("a test of m");
    let (between, rest) = test.split_once(", 0, ").expect("bounds, the first of which is 0");
    let wrong = end_with(&c.replace(test, &format!("{between}, 4, {rest}")));
    assert_eq!(wrong.status.signal(), Some(libc::SIGABRT), "{wrong:?}");
    let told = stderr(&wrong);
    assert!(told.contains("test.scm:1:10: m in the top level: fixnum was inferred"), "{told}");
    assert!(wrong.stdout.is_empty(), "nothing after the fault is done: {wrong:?}");
}

#[test]
fn recursion_goes_as_deep_as_memory() {
    for cc in ["gcc", "clang"] {
        let printed = prints("deep", include_str!("programs/deep.scm"), &usual(cc));
        assert_eq!(printed, include_str!("programs/deep.out"));
    }
}

#[test]
fn memory_stays_bounded_while_live_data_does() {
    let text = include_str!("programs/bounded.scm");
    assert_eq!(prints("bounded", text, &usual("gcc")), include_str!("programs/bounded.out"));
}

/// The most memory that a program ever had, in KiB.
fn peak(name: &str, text: &str, settings: &Settings) -> u64 {
    let tell = "(call-with-input-file \"/proc/self/status\"
                  (lambda (status)
                    (let loop ((line (read-line status)))
                      (if (string=? (substring line 0 6) \"VmHWM:\")
                          (display (read (open-input-string (substring line 6 (string-length line)))))
                          (loop (read-line status))))))";
    let text = format!("{text}\n{tell}");
    prints_as(name, &text, settings, &usual("gcc")).parse().expect("a number of KiB")
}

fn stays_within_three_times(live: u64, name: &str, text: &str) {
    let most = peak(name, text, &Settings::default());
    let allowed = (3 * live + (32 << 20)) >> 10;
    assert!(most <= allowed, "{name}: {most} KiB, not {allowed}");
}

/// A queue of so many elements, the oldest of which is replaced by a new one so many times.
fn queue(elements: usize, turns: usize) -> String {
    format!(
        "(define queue (cons '() '()))
         (define (put! x)
           (let ((cell (list x)))
             (if (null? (car queue)) (set-car! queue cell) (set-cdr! (cdr queue) cell))
             (set-cdr! queue cell)))
         (define (take!) (let ((x (caar queue))) (set-car! queue (cdar queue)) x))
         (do ((i 0 (+ i 1))) ((= i {elements})) (put! (list i (vector i i))))
         (do ((i 0 (+ i 1))) ((= i {turns})) (put! (list (car (take!)) (vector i i))))"
    )
}

/// The bytes of a queue's element.
const ELEMENT: u64 = 96;

#[test]
fn a_program_that_runs_forever_stays_within_three_times_what_is_alive() {
    // Each makes a thousand times what is alive at any moment, which is so many bytes at least.
    for (name, live, text) in [
        ("queue", 30_000 * ELEMENT, &*queue(30_000, 30_000_000)),
        (
            "memo",
            20_000 * 128,
            "(define memo (make-vector 20000 '()))
             (do ((i 0 (+ i 1))) ((= i 20000000))
               (vector-set! memo (modulo i 20000) (list i (make-string 12 #\\x) (vector i i)))
               (if (= 0 (modulo i 7)) (vector-set! memo (modulo i 20000) '())))",
        ),
        (
            "interpreter",
            0,
            "(define (evaluate e env)
               (cond ((symbol? e) (cdr (assq e env)))
                     ((not (pair? e)) e)
                     ((eq? (car e) '+) (+ (evaluate (cadr e) env) (evaluate (caddr e) env)))
                     (else (evaluate (cadddr e)
                                     (cons (cons (cadr e) (evaluate (caddr e) env)) env)))))
             (do ((i 0 (+ i 1))) ((= i 1000000))
               (evaluate '(let x (+ 1 2) (let y (+ x x) (+ x y))) (list (cons 'z i))))",
        ),
        (
            "generator",
            0,
            "(define (generate list)
               (define return #f)
               (define (go)
                 (for-each
                   (lambda (x) (call/cc (lambda (next) (set! go (lambda () (next #f))) (return x))))
                   list)
                 (return 'done))
               (lambda () (call/cc (lambda (k) (set! return k) (go)))))
             (define (drain g) (if (not (eq? (g) 'done)) (drain g)))
             (do ((i 0 (+ i 1))) ((= i 50000)) (drain (generate '(1 2 3 4 5))))",
        ),
    ] {
        stays_within_three_times(live, name, text);
    }
}

#[test]
fn a_program_with_much_alive_stays_within_three_times_as_much_too() {
    // Each makes ten times what is alive at any moment. A node takes 32 bytes.
    for (name, live, text) in [
        ("queue", 700_000 * ELEMENT, &*queue(700_000, 7_000_000)),
        (
            "tree",
            (1 << 21) * 32,
            "(define-record-type node (make-node left right) node? (left left) (right right))
             (define (tree depth)
               (if (= depth 0)
                   (make-node #f #f)
                   (make-node (tree (- depth 1)) (tree (- depth 1)))))
             (define (count t) (if (left t) (+ 1 (count (left t)) (count (right t))) 1))
             (define kept (tree 20))
             (do ((i 0 (+ i 1))) ((= i 300)) (tree 15))
             (if (not (= (count kept) (- (expt 2 21) 1))) (exit 1))",
        ),
    ] {
        stays_within_three_times(live, name, text);
    }
}

#[test]
fn statistics_tell_what_was_made_and_the_longest_pause() {
    let scratch = Scratch::new("stats");
    let text =
        "(define (turn n kept) (if (= n 0) (length kept) (turn (- n 1) (list n (car kept)))))
                 (display (turn 1500000 '(0)))";
    let program = compile(&scratch, "stats", text, &usual("gcc"));
    let said = stderr(&Command::new(&program).env("SCHEME_STATS", "1").output().unwrap());
    let number = |name: &str| -> f64 {
        let line = said.lines().find(|line| line.starts_with(name)).expect("the line is there");
        line[name.len()..].split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number")
    };
    assert!((45.0..60.0).contains(&number("made")), "{said}");
    assert!(number("evacuations") >= 2.0, "{said}");
    assert!(number("most held") < 24.0 && number("longest pause") > 0.0, "{said}");
    assert_eq!(stderr(&Command::new(&program).output().unwrap()), "");
}

#[test]
fn a_program_that_keeps_little_takes_little() {
    let text = "(define (turn n kept) (if (= n 0) (length kept) (turn (- n 1) (list n n (vector n n)))))
                (turn 10000000 '())
                (define (spin n) (define (f . all) (if (= (car all) 0) all (apply f (- (car all) 1) (cdr all)))) (f n 1 2))
                (spin 3000000)";
    let most = peak("little", text, &Settings::default());
    assert!(most < 48 << 10, "{most} KiB");
}

#[test]
fn the_end_of_the_stack_is_an_error_and_not_a_crash() {
    let text = "(define (f n) (+ 1 (f (+ n 1)))) (display 1) (f 0)";
    let output = within("stack", text, 600 << 20);
    assert_eq!(output.status.code(), Some(70), "{:?}", output.status.signal());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1");
    assert_eq!(stderr(&output), "error: recursion too deep: the stack is used up\n");
}

#[test]
fn the_end_of_memory_is_an_error_and_not_a_crash() {
    let output = within("memory", "(let loop ((l '())) (loop (cons 1 l)))", 600 << 20);
    assert_eq!(output.status.code(), Some(70), "{:?}", output.status.signal());
    assert_eq!(stderr(&output), "error: out of memory\n");
}

#[test]
fn programs_end_with_the_code_that_they_say() {
    for (text, code, printed) in [
        ("(display 1)", 0, "1"),
        ("(display 1) (exit 7) (display 2)", 7, "1"),
        ("(exit #t)", 0, ""),
        ("(exit #f)", 1, ""),
        ("(exit)", 0, ""),
        // The system keeps eight bits of a code.
        ("(exit 256)", 255, ""),
        ("(exit -1)", 255, ""),
        ("(exit 'no-code)", 70, ""),
        ("(emergency-exit 3)", 3, ""),
        (
            "(dynamic-wind (lambda () (display 1)) (lambda () (exit 2)) (lambda () (display 3)))",
            2,
            "13",
        ),
    ] {
        let output = run("end", text, &common::quick("gcc"));
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{text}");
    }
}

#[test]
fn what_nobody_handles_is_told_with_its_procedure_argument_and_type() {
    for (text, said) in [
        ("(display (car (list)))", "error: car: argument 1 must be a pair, not ()\n"),
        ("(error \"no luck:\" 1 \"two\")", "error: no luck: 1 \"two\"\n"),
        ("(raise 'some-symbol)", "error: uncaught object: some-symbol\n"),
        ("(define (f) x) (f) (define x (list 1))", "error: x is used before its definition\n"),
        ("((vector-ref (vector car) 0) 1 2)", "error: car takes 1 argument, but gets 2\n"),
    ] {
        let output = run("uncaught", text, &common::quick("gcc"));
        assert_eq!(output.status.code(), Some(70), "{text}");
        assert!(stderr(&output).starts_with(said), "{text}: {}", stderr(&output));
    }
}

#[test]
fn what_nobody_handles_is_told_with_its_place_and_the_last_calls() {
    let text = "(define (head l)\n  (car l))\n\
                (define (sum l)\n  (if (null? l)\n      0\n      (+ (head (car l))\n         (sum (cdr l)))))\n\
                (display (sum (list (list 1) (vector))))";
    for options in [common::quick("gcc"), usual("gcc"), usual("clang")] {
        for settings in [Default::default(), common::without(None)] {
            let output = common::run_as("places", text, &settings, &options);
            let said = stderr(&output);
            let mut lines = said.lines();
            assert_eq!(lines.next(), Some("error: car: argument 1 must be a pair, not #()"));
            let places: Vec<&str> =
                lines.filter_map(|line| line.split_once("places.scm:")).map(|(_, at)| at).collect();
            let inner = if settings.disabled.is_empty() { "2:3, in sum" } else { "2:3, in head" };
            assert_eq!(places[0], inner, "{said}");
            assert!(places.ends_with(&["7:10, in sum", "8:10"]), "{said}");
        }
    }
}

/// What was written must have arrived, or the program has failed.
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let scratch = Scratch::new("full");
    for (name, text, code) in [
        ("few", "(display 1)", 70),
        ("exit", "(display 1) (exit 3)", 3),
        ("stop", "(display 1) (exit)", 70),
    ] {
        let program = compile(&scratch, name, text, &common::quick("gcc"));
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(program).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{text}: {}", stderr(&output));
        assert!(stderr(&output).contains("No space left on device"), "{}", stderr(&output));
    }
}

#[test]
fn a_vector_larger_than_the_machine_is_an_error_at_once() {
    for text in ["(make-vector 500000000000 0)", "(make-string 900000000000 #\\a)"] {
        let output = run("huge", text, &common::quick("gcc"));
        assert_eq!(output.status.code(), Some(70), "{text}: {}", stderr(&output));
        assert_eq!(stderr(&output), "error: out of memory\n");
    }
}

/// Files as other systems' editors write them, and `include-ci`.
#[test]
fn a_mark_of_encoding_and_other_ends_of_lines_are_no_part_of_a_program() {
    let scratch = Scratch::new("ends");
    scratch.file("upper.scm", "(DEFINE (Shout X) (LIST X 'Loud \"Kept\" '|Kept|))");
    let text = "\u{feff}#!/usr/bin/scheme\r\n(define text \"one\r\ntwo \\\r\n   three\") ; four\r\n\
                (include-ci \"upper.scm\")\r\n(write (list text (shout 'Quiet)))\r\n\
                (let-syntax ((twice (syntax-rules () ((_ a) (begin a a))))) (twice (write 5)))\r\n";
    let program = compile(&scratch, "main", text, &common::quick("gcc"));
    let output = Command::new(program).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        printed,
        "(\"one\\ntwo three\" (Quiet loud \"Kept\" Kept))55",
        "{}",
        stderr(&output)
    );
}

#[test]
fn arguments_and_standard_input_are_the_programs() {
    let scratch = Scratch::new("input");
    let text = "(write (cdr (command-line)))
                (let loop ((line (read-line)))
                  (if (not (eof-object? line)) (begin (write line) (loop (read-line)))))";
    let program = compile(&scratch, "input", text, &common::quick("gcc"));
    scratch.file("text", "one\ntwo λ\nlast");
    let input = std::fs::File::open(scratch.path().join("text")).unwrap();
    let output = Command::new(program).args(["a", "b c"]).stdin(input).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "(\"a\" \"b c\")\"one\"\"two λ\"\"last\"");
}

#[test]
fn libraries_are_found_beside_the_program() {
    let scratch = Scratch::new("libraries");
    scratch.file(
        "shapes/square.sld",
        "(define-library (shapes square)
           (export area (rename make-square square) unless-zero)
           (import (scheme base))
           (include \"square-body.scm\"))",
    );
    scratch.file(
        "shapes/square-body.scm",
        "(define-record-type sq (make-square side) sq? (side side))
         (define (area s) (* (side s) (helper s)))
         (define (helper s) (side s))
         (define-syntax unless-zero (syntax-rules () ((_ x e) (if (= x 0) 'zero (begin (helper2) e)))))
         (define (helper2) 'hidden)",
    );
    let text = "(define-library (local) (export twice) (import (scheme base))
                  (begin (define (twice x) (* 2 x))))
                (import (scheme base) (scheme write) (prefix (shapes square) s:) (only (local) twice))
                (define (helper s) 'mine)
                (write (list (s:area (s:square 5)) (s:unless-zero 1 'ok) (twice 4) (helper 1)))";
    let program = compile(&scratch, "main", text, &common::quick("gcc"));
    let output = Command::new(program).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "(25 ok 8 mine)", "{}", stderr(&output));
}

/// The constructors tell nobody when the region grows, but safe points notice.
#[test]
fn memory_is_bounded_when_constructors_make_objects() {
    let text = "(do ((i 0 (+ i 1)) (kept '() (list i (vector i 1.5)))) ((= i 3000000)) (car (cons i kept)))";
    let settings = Settings { codegen: Codegen::Constructors, ..Settings::default() };
    let most = peak("constructors", text, &settings);
    assert!(most <= 32 << 10, "{most} KiB");
}

/// Everything that C was given is freed, and nothing is read that is not: a library with a sanitizer says so.
#[test]
fn c_functions_get_copies_and_leave_nothing_behind() {
    let scratch = Scratch::new("sanitized");
    let c = scratch.file(
        "mine.c",
        "#include <string.h>\n#include <stdlib.h>\n
         static size_t seen;
         size_t total(const char *a, const char *b) { return seen += strlen(a) + strlen(b); }
         const char *tail(const char *s, int n) { return s + n; }
         char *scribble(char *s) { s[0] = '!'; return s; }",
    );
    let object = c.with_extension("so");
    let sanitize = ["-fsanitize=address", "-shared", "-fPIC", "-o"];
    let built = Command::new("gcc").args(sanitize).arg(&object).arg(&c).status().unwrap();
    assert!(built.success());
    let text = "(import (scheme base) (scheme write) (allod ffi))
                (define total (c-procedure \"total\" (string string) size_t))
                (define tail (c-procedure \"tail\" (string int) string))
                (define scribble (c-procedure \"scribble\" (string) string))
                (define text \"a constant\")
                (define (moved n) (if (= n 0) '() (cons (total (number->string n) \"é\") (moved (- n 1)))))
                (write (list (apply max (moved 1000)) (tail \"abcdef\" 3) (scribble text) text
                             (guard (e (#t 'refused)) (total (make-string 1000 #\\x) 5))))";
    let options = cc::Options { link: vec![object.clone().into()], ..quick("gcc") };
    let program = compile(&scratch, "main", text, &options);
    let runtime = Command::new("gcc").arg("-print-file-name=libasan.so").output().unwrap();
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", String::from_utf8_lossy(&runtime.stdout).trim());
    command.env("ASAN_OPTIONS", "detect_leaks=1:use_sigaltstack=0:handle_segv=0");
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let expected = "(4893 \"def\" \"! constant\" \"a constant\" refused)";
    assert_eq!(printed, expected, "{:?} {}", output.status, stderr(&output));
    assert!(output.status.success(), "{}", stderr(&output));
}
