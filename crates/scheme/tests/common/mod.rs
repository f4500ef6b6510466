//! Programs, compiled and run.

// Each test program uses a part of this.
#![allow(dead_code)]

use allod_scheme::cc::{self, Options};
use allod_scheme::{Settings, Sources};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The run-time library, built as it is for use.
pub fn library() -> PathBuf {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY
        .get_or_init(|| {
            let mut cargo = Command::new(env!("CARGO"));
            let status =
                cargo.args(["build", "--release", "--package", "allod-scheme-runtime"]).status();
            assert!(status.expect("cargo runs").success(), "the library builds");
            let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
            scratch.with_file_name("release").join("liballod_scheme.a")
        })
        .clone()
}

/// A folder that is gone after the test, and that no other test has, whatever its name.
pub struct Scratch(TempDir);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let prefix = format!("allod-scheme-test-{name}-");
        Scratch(tempfile::Builder::new().prefix(&prefix).tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }
}

/// How tests compile: quickly, and with every warning an error.
pub fn quick(cc: &str) -> Options {
    Options { cc: cc.into(), level: 0, checked: true, library: library(), link: Vec::new() }
}

/// Without passes that only make programs faster; without one of them, if it is named.
pub fn without(pass: Option<&str>) -> Settings {
    let passes = pass.map_or(allod_scheme::OPTIONAL.to_vec(), |pass| vec![pass]);
    Settings { disabled: passes.into_iter().map(String::from).collect(), ..Settings::default() }
}

/// As people compile.
pub fn usual(cc: &str) -> Options {
    Options { cc: cc.into(), level: 2, checked: false, library: library(), link: Vec::new() }
}

/// Compiles a program and gives the executable.
pub fn compile(scratch: &Scratch, name: &str, text: &str, options: &Options) -> PathBuf {
    compile_as(scratch, name, text, &Settings::default(), options)
}

/// Compiles a program in a certain way.
pub fn compile_as(
    scratch: &Scratch,
    name: &str,
    text: &str,
    settings: &Settings,
    options: &Options,
) -> PathBuf {
    let file = scratch.file(&format!("{name}.scm"), text);
    let settings = Settings { checked: options.checked, ..settings.clone() };
    let c = cc::to_c(&file, settings).unwrap_or_else(|e| panic!("{e}"));
    let program = file.with_extension("");
    cc::build(&c, &program, options).unwrap_or_else(|e| panic!("{e}"));
    program
}

/// Compiles and runs a program, in a folder of its own.
pub fn run(name: &str, text: &str, options: &Options) -> Output {
    run_as(name, text, &Settings::default(), options)
}

/// Compiles a program in a certain way and runs it.
pub fn run_as(name: &str, text: &str, settings: &Settings, options: &Options) -> Output {
    let scratch = Scratch::new(name);
    let program = compile_as(&scratch, name, text, settings, options);
    let mut command = Command::new(program);
    command.current_dir(scratch.path()).stdin(Stdio::null());
    command.output().expect("the program starts")
}

/// What a program prints, which must end well.
pub fn prints(name: &str, text: &str, options: &Options) -> String {
    prints_as(name, text, &Settings::default(), options)
}

/// What a program prints that is compiled in a certain way.
pub fn prints_as(name: &str, text: &str, settings: &Settings, options: &Options) -> String {
    let output = run_as(name, text, settings, options);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {:?} {error}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

/// The program after the pass, without the prelude's procedures; none is inlined.
pub fn placed(text: &str) -> String {
    let mut sources = Sources::new(Path::new("."));
    let settings = Settings {
        dump: Some("regions".into()),
        disabled: vec!["inline".into()],
        ..Settings::default()
    };
    allod_scheme::compile(&mut sources, Path::new("test.scm"), text.into(), &settings).unwrap()
}

/// The lines of what a procedure became.
pub fn procedure<'a>(placed: &'a str, name: &str) -> &'a str {
    let start = placed
        .match_indices("procedure ")
        .find(|(at, _)| placed[*at..].split(' ').nth(2) == Some(name))
        .unwrap_or_else(|| panic!("no {name}: {placed}"))
        .0;
    let rest = &placed[start + 1..];
    let ends = ["\nprocedure ", "\ntop"].iter().filter_map(|next| rest.find(next)).min();
    &placed[start..=start + ends.unwrap_or(rest.len() - 1)]
}

/// A list of so many numbers, which no call is made of in place.
pub const NUMBERS: &str = "(define (numbers n) (if (= n 0) '() (cons n (numbers (- n 1)))))\n\
                       (define (sum l) (if (null? l) 0 (+ (car l) (sum (cdr l)))))\n";

/// A program after [`NUMBERS`] prints the same with scopes, also where it is checked, and without them; the one with this number by one
/// compiler or the other.
pub fn prints_without_scopes_too(what: &str, text: &str, number: usize) {
    let text = format!("{NUMBERS}{text}");
    let settings = without(Some("regions"));
    let plain = prints_as("plain", &text, &settings, &usual("gcc"));
    assert!(!plain.is_empty(), "{what}");
    assert_eq!(prints("checked", &text, &quick(["gcc", "clang"][number % 2])), plain, "{what}");
    if number.is_multiple_of(3) {
        assert_eq!(prints("usual", &text, &usual("gcc")), plain, "{what}");
    }
}

/// What `SCHEME_STATS` tells of a program: by name the first number of each line.
pub fn stats(text: &str) -> impl Fn(&str) -> f64 + use<> {
    let scratch = Scratch::new("stats");
    let program = compile(&scratch, "stats", text, &usual("gcc"));
    let output = Command::new(program).env("SCHEME_STATS", "1").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    move |name| {
        let line = said.lines().find(|line| line.starts_with(name));
        let line = line.unwrap_or_else(|| panic!("no {name}: {said}"));
        line[name.len()..].split_whitespace().next().unwrap().parse().unwrap()
    }
}
