//! Whole programs: calls without end, deep stacks, bounded memory, ends and errors, libraries.

mod common;

use common::{Scratch, compile, prints, run, usual};
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
        let options = allod_scheme::cc::Options { level, ..usual(cc) };
        let printed = prints("tail", include_str!("programs/tail.scm"), &options);
        assert_eq!(printed, include_str!("programs/tail.out"), "{cc} -O{level}");
    }
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

#[test]
fn a_program_that_keeps_little_takes_little() {
    let text = "(define (turn n kept) (if (= n 0) (length kept) (turn (- n 1) (list n n (vector n n)))))
                (turn 10000000 '())
                (define (spin n) (define (f . all) (if (= (car all) 0) all (apply f (- (car all) 1) (cdr all)))) (f n 1 2))
                (spin 3000000)
                (call-with-input-file \"/proc/self/status\"
                  (lambda (status)
                    (let loop ((line (read-line status)))
                      (if (string=? (substring line 0 6) \"VmHWM:\")
                          (display (read (open-input-string (substring line 6 (string-length line)))))
                          (loop (read-line status))))))";
    let most: u64 = prints("little", text, &usual("gcc")).parse().expect("a number of KiB");
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
        assert_eq!(stderr(&output), said, "{text}");
    }
}

#[test]
fn arguments_and_standard_input_are_the_programs() {
    let scratch = Scratch::new("input");
    let text = "(write (cdr (command-line)))
                (let loop ((line (read-line)))
                  (if (not (eof-object? line)) (begin (write line) (loop (read-line)))))";
    let program = compile(&scratch, "input", text, &common::quick("gcc"));
    scratch.file("text", "one\ntwo λ\nlast");
    let input = std::fs::File::open(scratch.0.join("text")).unwrap();
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
