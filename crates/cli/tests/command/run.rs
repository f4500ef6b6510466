//! `allod run`.

use crate::{Scratch, allod, run, stderr, stdout};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

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

fn reports(output: &Output) -> usize {
    stderr(output).matches("allod 0.").count()
}

#[test]
fn a_program_needs_no_dashes_before_it() {
    assert_eq!(stdout(&run(&["run", "echo", "hi"])), "hi\n");
    assert_eq!(stdout(&run(&["run", "echo", "--", "--stats"])), "-- --stats\n");
}

#[test]
fn statistics_are_the_programs_and_its_childrens_on_request() {
    // The shell waits for two programs, and ends by `_exit`.
    let script = ["sh", "-c", "cat /dev/null; cat /dev/null; exit 3"];
    let own = run(&[&["run", "--stats"][..], &script].concat());
    assert_eq!((own.status.code(), reports(&own)), (Some(3), 1), "{}", stderr(&own));
    let all = run(&[&["run", "--stats=children"][..], &script].concat());
    assert_eq!((all.status.code(), reports(&all)), (Some(3), 3), "{}", stderr(&all));
    let wrong = run(&["run", "--stats=cousins", "true"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("children"), "{}", stderr(&wrong));
}

#[test]
fn statistics_are_printed_once_at_every_end_that_the_page_promises() {
    let program = Scratch::new("ends");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/ends.c");
    let built = Command::new("cc").args(["-O1", "-o", program.name(), source]).status();
    assert!(built.is_ok_and(|s| s.success()), "a C compiler is needed for this test");
    // Its descriptors closed, its memory left by `_exit`, as another program, with a child.
    for (end, expected) in [
        ("return", 1),
        ("close", 1),
        ("_exit", 1),
        ("exec", 1),
        ("fork", 1),
        ("abort", 0),
        ("kill", 0),
    ] {
        let output = run(&["run", "--stats", program.name(), end]);
        assert_eq!(reports(&output), expected, "{end}: {}", stderr(&output));
    }
    let both = run(&["run", "--stats=children", program.name(), "fork"]);
    assert_eq!(reports(&both), 2, "{}", stderr(&both));
    let terminated = run(&["run", "--stats", "sh", "-c", "kill -TERM $$"]);
    assert_eq!((terminated.status.signal(), reports(&terminated)), (Some(15), 0));
    let exec = run(&["run", "--stats", "sh", "-c", "exec cat /dev/null"]);
    assert_eq!(reports(&exec), 1, "{}", stderr(&exec));
}
