//! The classic programs of `allod bench scheme`, at the size of a first look.

mod common;

use allod_scheme::Codegen;
use allod_scheme::Settings;
use allod_scheme::cc::Options;
use allod_scheme::classics::{CLASSICS, Classic, Group, INCLUDED, OBJECTS};
use common::{Scratch, compile, compile_as, quick, usual};
use std::process::Command;

/// What a program prints first, and whether it then told its time.
fn printed(classic: &Classic, settings: &Settings) -> (String, bool) {
    let scratch = Scratch::new(classic.name);
    for (name, text) in INCLUDED {
        scratch.file(name, text);
    }
    let options = Options { level: 1, ..usual("gcc") };
    let program = compile_as(&scratch, "program", classic.text, settings, &options);
    let mut command = Command::new(program);
    let output = command
        .arg(classic.quick.argument.to_string())
        .current_dir(scratch.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines();
    let result = lines.next().unwrap_or_default().to_owned();
    (result, lines.next().is_some_and(|line| line.starts_with("us=")))
}

#[test]
fn every_program_gives_its_result() {
    for classic in CLASSICS.iter().chain(OBJECTS) {
        let (result, timed) = printed(classic, &Settings::default());
        assert_eq!((result.as_str(), timed), (classic.quick.result, true), "{}", classic.name);
    }
}

/// Whatever makes the objects, the results are the same.
#[test]
fn objects_made_by_constructors_are_the_same() {
    let settings = Settings { codegen: Codegen::Constructors, ..Settings::default() };
    let some = ["gcbench", "nucleic", "peval", "pi", "string", "generator"];
    for classic in CLASSICS.iter().filter(|c| some.contains(&c.name)).chain(OBJECTS) {
        let (result, timed) = printed(classic, &settings);
        assert_eq!((result.as_str(), timed), (classic.quick.result, true), "{}", classic.name);
    }
}

#[test]
fn names_are_unique_and_every_group_has_programs() {
    let all: Vec<&Classic> = CLASSICS.iter().chain(OBJECTS).collect();
    for (i, classic) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|other| other.name != classic.name), "{}", classic.name);
        assert!(classic.full.argument > classic.quick.argument, "{}", classic.name);
    }
    for group in Group::ALL {
        assert!(all.iter().filter(|c| c.group == group).count() > 2, "{}", group.name());
    }
}

/// Vectors of every small length are sorted without an index outside them, which `vector-ref` would not let pass.
#[test]
fn quicksort_sorts_vectors_of_every_length() {
    let classic = CLASSICS.iter().find(|c| c.name == "quicksort").unwrap();
    let scratch = Scratch::new("every-length");
    scratch.file(
        "main.scm",
        "(do ((n 1 (+ n 1))) ((= n 300)) (if (symbol? (run n)) (error \"unsorted\" n)))",
    );
    let program = compile(&scratch, "program", classic.text, &quick("gcc"));
    let output = Command::new(program).current_dir(scratch.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
