//! `allod compare`.

use crate::{Scratch, allod, install_folder, run, stderr, stdout};
use serde_json::Value;
use std::process::Command;

#[test]
fn a_static_program_is_named_as_out_of_reach() {
    let source = Scratch::new("static.c");
    let program = Scratch::new("static");
    std::fs::write(&source.0, "int main(void) { return 3; }").unwrap();
    let built = Command::new("cc")
        .args(["-static", "-nostartfiles", "-nostdlib", "-Wl,-e,main", "-o"])
        .args([&program.0, &source.0])
        .status();
    assert!(built.is_ok_and(|s| s.success()), "a C compiler is needed for this test");
    let output = run(&["compare", "--", program.name()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("statically linked"), "{}", stderr(&output));
}

#[test]
fn compare_prints_a_table_and_is_quiet_in_a_pipe() {
    let output = run(&["compare", "--runs", "3", "--only", "allod", "--", "true"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for word in ["allod", "system", "times faster", "baseline", "peak MiB"] {
        assert!(text.contains(word), "{word} in {text}");
    }
    assert_eq!(stderr(&output), "");
    assert!(!text.contains('\x1b'), "no escape sequences in a pipe");
}

#[test]
fn compare_writes_every_field_of_the_schema() {
    let file = Scratch::new("compare.json");
    let arguments = ["compare", "--runs", "3", "--only", "allod", "--json", file.name()];
    let output = run(&[&arguments[..], &["--", "sh", "-c", "exit 0"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let report = file.json();
    assert_eq!(report["schema"], 2);
    for field in ["os", "arch", "cpu", "cores", "memory_kib"] {
        assert!(!report["machine"][field].is_null(), "{field}");
    }
    let wall = |v: &&Value| v["suite"] == "compare";
    let results: Vec<&Value> = report["results"].as_array().unwrap().iter().filter(wall).collect();
    assert_eq!(results.len(), 2);
    for r in results {
        assert_eq!(
            (&r["unit"], &r["runs"], &r["workload"]),
            (&"ms".into(), &3.into(), &"sh -c exit 0".into())
        );
        for field in ["median", "mean", "stddev", "peak_rss_kib"] {
            assert!(r[field].as_f64().is_some_and(|x| x >= 0.0), "{field} in {r}");
        }
        assert!(r["ci95"][0].as_f64() <= r["ci95"][1].as_f64());
    }
    let comparisons = report["comparisons"].as_array().unwrap();
    let c = comparisons.iter().find(wall).unwrap();
    assert_eq!((&c["subject"], &c["baseline"]), (&"allod".into(), &"system".into()));
    assert!(["GO", "NO-GO", "EQUIVALENT", "UNDECIDED"].contains(&c["verdict"].as_str().unwrap()));
    assert!(c["ratio"].as_f64().is_some_and(|x| x > 0.0));
}

#[test]
fn a_program_that_fails_is_not_compared_and_its_exit_code_is_named() {
    let output = run(&["compare", "--runs", "6", "--only", "system", "--", "false"]);
    assert_eq!(output.status.code(), Some(1));
    let words = "false ended with exit code 1 on system";
    assert!(stderr(&output).contains(words), "{}", stderr(&output));
    let output = run(&["compare", "--only", "system", "sh", "-c", "kill -SEGV $$"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("segmentation fault"), "{}", stderr(&output));
}

#[test]
fn a_program_needs_no_dashes_before_it_and_keeps_its_own_options() {
    let script = "echo one; exit 0";
    let output = run(&[
        "compare",
        "--runs",
        "1",
        "--only",
        "system",
        "--show-output",
        "sh",
        "-c",
        script,
        "--runs",
    ]);
    assert!(stdout(&output).starts_with("one\n"), "{}{}", stdout(&output), stderr(&output));
    let output = run(&["run", "sh", "-c", "echo $0 $1", "--stats", "-x"]);
    assert_eq!(stdout(&output), "--stats -x\n");
}

#[test]
fn a_program_that_hangs_on_one_allocator_is_a_row_that_says_so() {
    let script = "case $LD_PRELOAD in *liballod*) sleep 60;; esac";
    let options = ["compare", "--runs", "2", "--only", "allod", "--timeout", "1s"];
    let output = run(&[&options[..], &["sh", "-c", script]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("allod failed: the program did not end in time"), "{text}");
}

#[test]
fn compare_shows_a_subject_on_which_the_program_ends_otherwise() {
    // The program looks at what is preloaded, so that it fails on Allod only.
    let script = "case $LD_PRELOAD in *liballod*) exit 9;; esac";
    let output = run(&["compare", "--runs", "3", "--only", "allod", "--", "sh", "-c", script]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("one row failed"), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("allod failed: the program ended with exit code 9"), "{text}");
}

#[test]
fn compare_starts_the_program_with_the_variables_that_are_named_and_no_others() {
    let output = allod()
        .args(["compare", "--runs", "1", "--only", "system", "--show-output"])
        .args(["--env", "KEPT", "--env", "SET=set"])
        .args(["--", "sh", "-c", "echo [$MALLOC_ARENA_MAX$STRANGE$KEPT $SET]"])
        .envs([("MALLOC_ARENA_MAX", "1"), ("STRANGE", "1"), ("KEPT", "kept")])
        .output()
        .unwrap();
    assert!(stdout(&output).starts_with("[kept set]\n"), "{}{}", stdout(&output), stderr(&output));
}

#[test]
fn compare_accepts_a_peer_by_name_and_path_and_refuses_one_without_malloc() {
    let peer = format!("twin={}", install_folder().join("liballod.so").display());
    let base = ["compare", "--runs", "1", "--only", "twin", "--peer", &peer];
    let output = run(&[&base[..], &["--", "true"]].concat());
    assert!(stdout(&output).contains("twin "), "{}", stderr(&output));

    let launcher = allod_lab::files::null_subject().unwrap().with_file_name("allod-launch");
    let broken = format!("broken={}", launcher.display());
    let output =
        run(&["compare", "--runs", "1", "--only", "system", "--peer", &broken, "--", "true"]);
    assert!(stderr(&output).contains("broken is left out"), "{}", stderr(&output));
}

#[test]
fn instructions_are_counted_where_time_would_be_noise() {
    let output = run(&["compare", "--instructions", "--only", "allod", "true"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("million instructions") && !text.contains("wall"), "{text}");
    let row = text.lines().find(|l| l.starts_with("allod")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert!(cells[1].parse::<f64>().is_ok_and(|n| n > 0.05), "{row}");
    assert!(cells[2].parse::<f64>().is_ok_and(|n| n > 0.01), "{row}");
}

#[test]
fn names_may_be_written_with_spaces_between_them() {
    let options = ["compare", "--runs", "1", "--only", "allod, system ", "--baseline", " system"];
    let output = run(&[&options[..], &["true"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("\nallod "), "{}", stdout(&output));
}
