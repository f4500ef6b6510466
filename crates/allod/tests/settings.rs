//! A Rust program on Allod obeys the environment as a preloaded one does.

use std::process::{Command, Output};

#[global_allocator]
static A: allod::Allod = allod::Allod;

/// What the other process does.
#[test]
fn allocates() {
    let v: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
    assert_eq!(v[999], "999");
}

fn again(settings: &[(&str, &str)]) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "allocates"])
        .envs(settings.iter().copied())
        .output()
        .unwrap()
}

#[test]
fn statistics_are_reported_at_exit() {
    let run = again(&[("ALLOD_STATS", "1")]);
    assert!(run.status.success());
    let report = String::from_utf8_lossy(&run.stderr);
    assert!(report.contains("small blocks"), "{report}");
}

#[test]
fn unknown_settings_are_named_once_and_ignored() {
    let run = again(&[("ALLOD_STAT", "1")]);
    assert!(run.status.success());
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(said.matches("unknown setting ALLOD_STAT ").count(), 1, "{said}");
}

#[test]
fn without_settings_nothing_is_said() {
    let run = again(&[]);
    assert!(run.stderr.is_empty(), "{}", String::from_utf8_lossy(&run.stderr));
}
