//! `--against`: whether something became worse.

use crate::{Scratch, allod, run, stderr, stdout};
use std::path::Path;
use std::process::{Command, Output};

/// Compares a program that wastes time or not, on a machine that may be noisy: the differences are gross.
fn compare(sleep: &str, arguments: &[&str]) -> Output {
    // On Allod only, so that its ratio to the system's malloc changes.
    let script = "case $LD_PRELOAD in *liballod*) sleep $SLEEP;; *) sleep 0.05;; esac";
    allod()
        .args(["compare", "--quick", "--only", "allod", "--threshold", "50"])
        .args(["--env", &format!("SLEEP={sleep}")])
        .args(arguments)
        .args(["sh", "-c", script])
        .output()
        .unwrap()
}

#[test]
fn a_regression_exits_with_1_and_what_is_no_worse_with_0() {
    let (store, json) = (Scratch::new("gate.sqlite"), Scratch::new("gate.json"));
    let keep = ["--store", store.name()];
    let first = compare("0.05", &[&keep[..], &["--json", json.name()]].concat());
    assert!(first.status.success(), "{}", stderr(&first));

    for against in ["1", json.name()] {
        let same = compare("0.05", &[&keep[..], &["--against", against]].concat());
        let said = format!("{}{}", stdout(&same), stderr(&same));
        assert!(matches!(same.status.code(), Some(0 | 3)), "{said}");
        assert!(said.contains("0 regressions"), "{said}");
        assert!(said.contains("allod is the very same build as then"), "{said}");
    }
    let worse = compare("0.3", &[&keep[..], &["--against", "1"]].concat());
    let said = format!("{}{}", stdout(&worse), stderr(&worse));
    assert_eq!(worse.status.code(), Some(1), "{said}");
    assert!(said.contains("Against run 1 of ") && said.contains("REGRESSION"), "{said}");
    assert!(said.contains("allod: worse than run 1"), "{said}");
    assert!(said.contains("Kept as run 4"), "a run that is worse is kept, too: {said}");
}

#[test]
fn too_few_rounds_exit_with_3() {
    let store = Scratch::new("undecided.sqlite");
    assert!(compare("0.01", &["--store", store.name()]).status.success());
    let mut few = allod();
    few.args(["compare", "--runs", "2", "--only", "allod", "--store", store.name()]);
    few.args(["--env", "SLEEP=0.01", "--against", "1", "sh", "-c"]);
    let script = "case $LD_PRELOAD in *liballod*) sleep $SLEEP;; *) sleep 0.05;; esac";
    let output = few.arg(script).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("fewer than 6 rounds"), "{}", stdout(&output));
    assert!(stderr(&output).contains("undecided whether"), "{}", stderr(&output));
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
    let output = git.output().expect("git is needed for this test");
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_branch_stands_for_the_newest_run_at_its_commit() {
    let (folder, store) = (Scratch::new("tree"), Scratch::new("branch.sqlite"));
    std::fs::create_dir(&folder.0).unwrap();
    git(&folder.0, &["init", "-q", "-b", "main"]);
    git(&folder.0, &["commit", "-q", "--allow-empty", "-m", "one"]);
    let measure = |arguments: &[&str]| {
        let mut command = allod();
        command.current_dir(&folder.0).args(["compare", "--quick", "--only", "allod"]);
        command.args(["--threshold", "90", "--store", store.name()]).args(arguments).arg("true");
        command.output().unwrap()
    };
    let none = measure(&["--against", "main"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("there is no store"), "{}", stderr(&none));
    assert!(measure(&[]).status.success());
    let with = measure(&["--against", "main"]);
    assert!(stdout(&with).contains("Against run 1 of"), "{}{}", stdout(&with), stderr(&with));

    git(&folder.0, &["commit", "-q", "--allow-empty", "-m", "two"]);
    for (against, words) in [
        ("main", "the newest of that branch is run 2, at "),
        ("mian", "did you mean main?"),
        ("77", "the nearest is 2"),
        ("/no/report.json", "/no/report.json"),
    ] {
        let output = measure(&["--against", against]);
        assert_eq!(output.status.code(), Some(2), "{against}: {}", stdout(&output));
        assert!(stderr(&output).contains(words), "{against}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "nothing was measured");
    }
    let output = measure(&["--against", "HEAD~1"]);
    assert!(stdout(&output).contains("Against run 2 of"), "{}", stderr(&output));
    std::fs::remove_dir_all(&folder.0).unwrap();
}

#[test]
fn a_suite_is_held_against_a_file_without_any_store() {
    let json = Scratch::new("suite.json");
    let suite =
        ["bench", "heap", "--quick", "--scale", "0.001", "--only", "lifo,fifo,allod,system"];
    let options = ["--baseline", "system", "--threshold", "90", "--no-store"];
    let first = run(&[&suite[..], &options, &["--json", json.name()]].concat());
    assert!(first.status.success(), "{}", stderr(&first));
    let same = run(&[&suite[..], &options, &["--against", json.name()]].concat());
    for mean in ["\nheap geometric-mean", "\nheap-peak geometric-mean"] {
        assert!(stdout(&same).contains(mean), "{mean} in {}{}", stdout(&same), stderr(&same));
    }
    assert!(matches!(same.status.code(), Some(0 | 3)), "{}", stdout(&same));
    // Twice the work is other work.
    let other =
        ["bench", "heap", "--quick", "--scale", "0.002", "--only", "lifo,fifo,allod,system"];
    let other = run(&[&other[..], &options, &["--against", json.name()]].concat());
    assert_eq!(other.status.code(), Some(3), "{}", stdout(&other));
    assert!(stdout(&other).contains("Cannot be compared: heap scale: 0.001 then, 0.002 now"));

    std::fs::write(
        &json.0,
        r#"{"schema":1,"machine":{"os":"","arch":"","cpu":"","cores":1,
        "memory_kib":1,"huge_pages":""},"results":[],"comparisons":[]}"#,
    )
    .unwrap();
    let old = run(&[&suite[..], &options, &["--against", json.name()]].concat());
    assert_eq!(old.status.code(), Some(2));
    assert!(stderr(&old).contains("has results only"), "{}", stderr(&old));
}

#[test]
fn a_branch_stands_for_a_run_that_counted_instructions_where_these_are_counted() {
    let store = Scratch::new("counted.sqlite");
    let suite = ["bench", "frame", "--only", "single-64,allod,bumpalo", "--store", store.name()];
    assert!(run(&[&suite[..], &["--runs", "1"]].concat()).status.success());
    // What this tree measured by the clock is no run of counted instructions.
    let output = run(&[&suite[..], &["--instructions", "--against", "HEAD"]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    assert!(stderr(&output).contains("no run of frame-instructions at"), "{}", stderr(&output));
}
