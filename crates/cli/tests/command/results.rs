//! How long is measured, and where the results go.

use crate::{Scratch, allod, run, stderr, stdout};
use std::path::PathBuf;
use std::process::{Command, Stdio};

#[test]
fn fewer_than_six_rounds_give_no_verdict_and_say_so() {
    let output = run(&["compare", "--runs", "5", "--only", "allod", "--", "true"]);
    assert!(stdout(&output).contains("5 rounds are too few for a verdict"), "{}", stdout(&output));
    let row = stdout(&output).lines().find(|l| l.starts_with("allod")).unwrap().to_owned();
    assert!(row.ends_with("UNDECIDED"), "{row}");
    let output = run(&["compare", "--quick", "--only", "allod", "--", "true"]);
    assert!(!stdout(&output).contains("too few"), "{}", stdout(&output));
}

#[test]
fn precision_and_time_bound_the_rounds_and_the_seed_is_repeated() {
    let file = Scratch::new("precision.json");
    let options = ["--precision", "0.001%", "--max-runs", "8", "--seed", "42"];
    let program = ["--json", file.name(), "--only", "allod", "true"];
    let output = run(&[&["compare"], &options[..], &program].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("--seed 42"), "{}", stdout(&output));
    let report = file.json();
    assert_eq!(report["provenance"]["seed"], 42);
    assert_eq!(report["results"][0]["runs"], 8);
    let output =
        run(&["compare", "--runs", "9999", "--max-time", "1s", "--only", "system", "true"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn every_observation_is_in_the_file_with_its_metric_as_a_column() {
    let file = Scratch::new("observations.json");
    let output =
        run(&["compare", "--runs", "2", "--only", "system", "--json", file.name(), "true"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report = file.json();
    let observations = report["observations"].as_array().unwrap();
    let of = |metric: &str, counts: bool| {
        let all = observations.iter().filter(|o| o["metric"] == metric && o["counts"] == counts);
        all.count()
    };
    assert_eq!((of("wall", true), of("wall", false) > 0), (2, true), "the warm-up does not count");
    for metric in ["user", "system", "cpu", "peak", "minor-faults", "voluntary-switches", "loop"] {
        assert_eq!(of(metric, true), 2, "{metric}");
    }
    for field in ["round", "position", "suite", "workload", "arm", "unit", "value"] {
        assert!(!observations[0][field].is_null(), "{field}");
    }
    assert_eq!(report["provenance"]["command"][1], "compare");
}

#[test]
fn a_full_disk_loses_nothing_that_can_be_printed() {
    let options = ["compare", "--runs", "1", "--only", "system", "--json", "/dev/full", "true"];
    let output = run(&options);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("wall ms"), "{}", stdout(&output));
    assert!(stderr(&output).contains("cannot write /dev/full"), "{}", stderr(&output));
}

#[test]
fn a_file_keeps_its_contents_until_there_are_new_ones() {
    let file = Scratch::new("kept.json");
    std::fs::write(&file.0, "old").unwrap();
    let fails = ["compare", "--only", "system", "--json", file.name(), "false"];
    assert_eq!(run(&fails).status.code(), Some(1));
    assert_eq!(std::fs::read_to_string(&file.0).unwrap(), "old");
    std::fs::remove_file(&file.0).unwrap();
    assert_eq!(run(&fails).status.code(), Some(1));
    assert!(!file.0.exists(), "no empty file is left");
}

/// The processes whose parent is `pid`.
fn children(pid: &str) -> Vec<PathBuf> {
    let is_child = |process: &PathBuf| {
        let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
        let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        after_name.split(' ').nth(1) == Some(pid)
    };
    let processes = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    processes.filter(is_child).collect()
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_ends_what_runs() {
    let file = Scratch::new("stopped.json");
    let options = ["compare", "--runs", "9999", "--only", "system", "--json", file.name()];
    let child = allod()
        .args(options)
        .args(["sh", "-c", "sleep 0.1; sleep 0.1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_secs(4));
    let pid = child.id().to_string();
    let launchers = children(&pid);
    let told = Command::new("sh").args(["-c", &format!("kill -INT {pid}")]).status();
    assert!(told.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stdout(&output).contains("Stopped:"), "{}", stdout(&output));
    let report = file.json();
    assert_eq!(report["provenance"]["stopped"], true);
    assert!(report["results"][0]["runs"].as_u64().is_some_and(|n| n > 0), "{report}");
    assert!(launchers.iter().all(|process| !process.exists()), "{launchers:?}");
}
