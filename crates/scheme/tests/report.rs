//! The report's examples, and more: tables of expressions and what they give, each table one program.

mod common;

use allod_scheme::Settings;
use allod_scheme::cc::Options;
use std::fmt::Write;

/// Runs an expression and prints what it gives, or how it fails.
const FRAME: &str = "
(define (%show n thunk)
  (display n)
  (display \" \")
  (guard (e ((error-object? e)
             (display \"error: \")
             (display (error-object-message e))
             (for-each (lambda (i) (display \" \") (write i)) (error-object-irritants e)))
            (else (display \"raised: \") (write e)))
    (call-with-values thunk
      (lambda all
        (let loop ((all all))
          (when (pair? all)
            (write (car all))
            (if (pair? (cdr all)) (display \" \"))
            (loop (cdr all)))))))
  (newline))
";

/// A block of a table: what it says, and what that gives.
fn blocks(table: &str) -> Vec<(String, Option<String>)> {
    let lines = table.lines().filter(|line| !line.starts_with(';'));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    let block = |block: &str| {
        let (source, expected) = match block.rsplit_once("\n=>") {
            Some((source, expected)) => (source, Some(expected.trim().to_owned())),
            None => (block, None),
        };
        (source.trim().to_owned(), expected)
    };
    text.split("\n\n").map(str::trim).filter(|b| !b.is_empty()).map(block).collect()
}

fn check(name: &str, table: &str, options: &Options) {
    check_as(name, table, &Settings::default(), options);
}

fn check_as(name: &str, table: &str, settings: &Settings, options: &Options) {
    let blocks = blocks(table);
    let mut program = String::from(FRAME);
    for (i, (source, expected)) in blocks.iter().enumerate() {
        match expected {
            Some(_) => writeln!(program, "(%show {i} (lambda () {source}))"),
            None => writeln!(program, "{source}"),
        }
        .unwrap();
    }
    let printed = common::prints_as(name, &program, settings, options);
    let mut lines = printed.lines();
    let mut wrong = String::new();
    for (i, (source, expected)) in blocks.iter().enumerate() {
        let Some(expected) = expected else { continue };
        let line = lines.next().unwrap_or("nothing");
        let given = line.strip_prefix(&format!("{i} ")).unwrap_or(line).trim();
        if given != expected {
            writeln!(wrong, "{source}\n   gives {given}\n  not {expected}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn chapter_4_by_gcc() {
    check("chapter4-gcc", include_str!("report/chapter4.txt"), &common::quick("gcc"));
}

#[test]
fn chapter_4_by_clang_optimised() {
    check("chapter4-clang", include_str!("report/chapter4.txt"), &common::usual("clang"));
}

#[test]
fn chapter_6_by_gcc() {
    check("chapter6-gcc", include_str!("report/chapter6.txt"), &common::quick("gcc"));
}

#[test]
fn chapter_6_by_clang() {
    check("chapter6-clang", include_str!("report/chapter6.txt"), &common::quick("clang"));
}

#[test]
fn both_chapters_without_any_pass_that_may_be_left_out() {
    let (without, quick) = (common::without(None), common::quick("gcc"));
    check_as("chapter4-plain", include_str!("report/chapter4.txt"), &without, &quick);
    check_as("chapter6-plain", include_str!("report/chapter6.txt"), &without, &quick);
}

#[test]
fn the_rest_of_chapters_4_and_5() {
    check("chapter4b", include_str!("report/chapter4b.txt"), &common::quick("gcc"));
}

#[test]
fn the_rest_of_chapter_6() {
    check("chapter6b", include_str!("report/chapter6b.txt"), &common::quick("gcc"));
}

/// C functions, their arguments and results; each way in which C is compiled has its own idea of a prototype.
#[test]
fn c_functions_by_gcc_and_clang() {
    let ffi = include_str!("report/ffi.txt");
    check("ffi-gcc", ffi, &common::quick("gcc"));
    check("ffi-clang", ffi, &common::usual("clang"));
    check_as("ffi-plain", ffi, &common::without(None), &common::quick("gcc"));
}
