//! `allod run`.

use crate::{allod, run, stderr, stdout};
use std::os::unix::process::ExitStatusExt;

#[test]
fn run_passes_output_and_exit_code_through() {
    let output = run(&["run", "--", "sh", "-c", "echo out; echo err >&2; exit 42"]);
    assert_eq!(output.status.code(), Some(42));
    assert_eq!((stdout(&output).as_str(), stderr(&output).as_str()), ("out\n", "err\n"));
}

#[test]
fn run_passes_signals_through() {
    let output = run(&["run", "--", "sh", "-c", "kill -TERM $$"]);
    assert_eq!(output.status.signal(), Some(15));
}

#[test]
fn run_puts_the_program_and_its_children_on_allod() {
    let output = run(&["run", "--", "sh", "-c", "cat /proc/self/maps"]);
    assert!(stdout(&output).contains("liballod.so"), "{}", stderr(&output));
}

#[test]
fn run_keeps_what_was_preloaded_already() {
    let output = allod()
        .args(["run", "--", "sh", "-c", "echo $LD_PRELOAD"])
        .env("LD_PRELOAD", "libm.so.6")
        .output()
        .unwrap();
    assert!(stdout(&output).ends_with("liballod.so:libm.so.6\n"), "{}", stdout(&output));
}

#[test]
fn run_gives_127_for_a_missing_program_and_126_for_one_that_cannot_be_executed() {
    let output = run(&["run", "--", "no-such-program-here"]);
    assert_eq!(output.status.code(), Some(127));
    assert!(stderr(&output).contains("no-such-program-here"), "{}", stderr(&output));
    let output = run(&["run", "--", "/etc/passwd"]);
    assert_eq!(output.status.code(), Some(126));
    assert!(stderr(&output).contains("not executable"), "{}", stderr(&output));
}
