//! Random programs, which this compiler and Chez Scheme run with equal output; and the corpus of those that once
//! did not, or are kept as examples, with what Chez prints.
//!
//!     cargo test -p allod-scheme --test fuzz                          the corpus, and a few seeds
//!     ALLOD_FUZZ=100..200 cargo test -p allod-scheme --test fuzz      these seeds
//!
//! A program that is told to differ is kept by its text and Chez's output: `tests/corpus/NAME.scm` and `NAME.out`.

#[path = "../common/mod.rs"]
mod common;
mod generate;

use allod_scheme::cc::Options;
use common::{Scratch, prints, quick, usual};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// What Chez Scheme prints, through the wrapper that the benchmarks use; nothing where it is not installed.
fn chez(text: &str) -> Option<String> {
    Command::new("scheme").arg("--version").output().ok()?;
    let scratch = Scratch::new("chez");
    scratch.file("program.scm", text);
    let wrapper = scratch.file("wrapper.scm", include_str!("../../benches/peers/chez.scm"));
    let mut scheme = Command::new("scheme");
    let output = scheme.arg("--program").arg(wrapper).current_dir(scratch.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "Chez refuses a program that was to be well defined: {said}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Flonums as numbers: whether one is written with an exponent is left to each system.
fn plain(text: &str) -> String {
    let end = |c: char| c.is_whitespace() || "()\"#".contains(c);
    let number = |word: &str| match word.parse::<f64>() {
        Ok(x) if word.contains(['.', 'e']) => format!("{x:?}"),
        _ => word.to_owned(),
    };
    text.split_inclusive(end)
        .map(|word| {
            let delimiter = word.chars().last().filter(|&c| end(c));
            let word = word.strip_suffix(end).unwrap_or(word);
            number(word) + delimiter.map_or(String::new(), String::from).as_str()
        })
        .collect()
}

/// The first line that differs, and its number.
fn difference(own: &str, other: &str) -> Option<String> {
    let (own, other) = (plain(own), plain(other));
    let (mut a, mut b) = (own.lines(), other.lines());
    for line in 1.. {
        match (a.next(), b.next()) {
            (None, None) => return None,
            (a, b) if a == b => {}
            (a, b) => {
                let mut text = String::new();
                let shown = |line: Option<&str>| line.unwrap_or("nothing").to_owned();
                write!(text, "line {line}: {}\n    not {}", shown(a), shown(b)).unwrap();
                return Some(text);
            }
        }
    }
    None
}

#[test]
fn the_corpus_prints_what_chez_printed() {
    let mut names: Vec<_> =
        std::fs::read_dir("tests/corpus").unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|e| e == "scm"));
    names.sort();
    assert!(names.len() >= 4, "the programs are there");
    for path in names {
        let text = std::fs::read_to_string(&path).unwrap();
        let expected = std::fs::read_to_string(path.with_extension("out")).unwrap();
        for options in [quick("gcc"), usual("clang")] {
            let printed = prints("corpus", &text, &options);
            assert_eq!(difference(&printed, &expected), None, "{}", path.display());
        }
    }
}

#[test]
fn random_programs_print_what_chez_prints() {
    let seeds = match std::env::var("ALLOD_FUZZ") {
        Ok(range) => {
            let (from, to) = range.split_once("..").expect("ALLOD_FUZZ=FROM..TO");
            from.parse().expect("a number")..to.parse().expect("a number")
        }
        Err(_) => 0..4,
    };
    let (options, mut wrong): ([Options; 2], _) = ([usual("gcc"), quick("clang")], String::new());
    for seed in seeds {
        let text = generate::program(seed);
        let Some(expected) = chez(&text) else {
            println!("skipped: Chez Scheme is not installed");
            return;
        };
        // It stays there if it ends badly, too.
        keep(seed, &text, &expected);
        let printed = prints("fuzz", &text, &options[seed as usize % 2]);
        match difference(&printed, &expected) {
            Some(line) => writeln!(wrong, "seed {seed}, {line}").unwrap(),
            None => forget(seed),
        }
    }
    assert!(wrong.is_empty(), "{wrong}The programs are in {}", kept().display());
}

/// Where programs that differ are left, to be made smaller and put into the corpus.
fn kept() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn keep(seed: u64, text: &str, expected: &str) {
    std::fs::write(kept().join(format!("fuzz-{seed}.scm")), text).unwrap();
    std::fs::write(kept().join(format!("fuzz-{seed}.out")), expected).unwrap();
}

fn forget(seed: u64) {
    for end in ["scm", "out"] {
        let _ = std::fs::remove_file(kept().join(format!("fuzz-{seed}.{end}")));
    }
}

#[test]
fn flonums_are_compared_as_numbers() {
    assert_eq!(difference("(1e-7 2.50 \"a\")\n", "(0.0000001 2.5 \"a\")\n"), None);
    assert!(difference("1.0\n", "1\n").unwrap().contains("line 1: 1.0"));
    assert!(difference("1\n", "1\n2\n").unwrap().contains("nothing"));
}
