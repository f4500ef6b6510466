//! `allod bench frame` and `allod bench region`.

use crate::{Scratch, install_folder, run, stderr, stdout};

#[test]
fn functions_are_measured_in_processes_of_their_own() {
    let file = Scratch::new("frame.json");
    let arguments = ["bench", "frame", "--quick", "--only", "physics,allod,malloc"];
    let output = run(&[&arguments[..], &["--json", file.name()]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    for word in ["physics", "bumpalo", "Requirements", "Times faster", "Memory by component"] {
        assert!(stdout(&output).contains(word), "{word} in {}", stdout(&output));
    }
    let report = file.json();
    assert!(report.get("failures").is_none(), "{report}");
    let subjects: Vec<&str> = report["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["subject"].as_str().unwrap())
        .collect();
    assert_eq!(subjects, ["allod", "bumpalo", "malloc"]);
    assert!(report["results"][0]["peak_rss_kib"].as_u64().is_some_and(|kib| kib > 100));
}

#[test]
fn a_region_workload_without_the_baseline_is_compared_with_its_first_subject() {
    let file = Scratch::new("region.json");
    let arguments = ["bench", "region", "--quick", "--only", "tether,region-lifecycle"];
    let output = run(&[&arguments[..], &["--json", file.name()]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let report = file.json();
    assert!(report.get("failures").is_none(), "{report}");
    let comparisons = report["comparisons"].as_array().unwrap();
    let baseline = |workload: &str| {
        let found = comparisons.iter().find(|c| c["workload"] == workload);
        found.map(|c| c["baseline"].as_str().unwrap())
    };
    assert_eq!(baseline("region-lifecycle"), Some("typed"));
    assert_eq!(baseline("tether"), Some("guard"));
}

#[test]
fn means_threads_and_quantiles_say_what_they_are() {
    let rows = "single-64,single-4k,single-4k-whole,threads-16,latency,allod";
    let output = run(&["bench", "frame", "--quick", "--runs", "1", "--only", rows]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for line in
        ["geometric mean of 5 rows", "  without single-4k ", "p99.99", "† more threads than"]
    {
        assert!(text.lines().any(|l| l.starts_with(line)), "{line:?} in {text}");
    }
    assert!(text.lines().any(|l| l.starts_with("threads-16 †")), "{text}");
    let apart = text.split_once("One word in each large block").expect("a table of its own").1;
    assert!(apart.lines().any(|l| l.starts_with("single-4k ")), "{text}");
}

#[test]
fn instructions_are_counted_of_frames_and_regions() {
    for (suite, row, subjects) in
        [("frame", "minimal", ["allod", "bumpalo"]), ("region", "typed-int", ["typed", "mk"])]
    {
        let file = Scratch::new(&format!("{suite}-instructions.json"));
        let only = format!("{row},{}", subjects.join(","));
        let arguments = ["bench", suite, "--quick", "--instructions", "--only", &only];
        let output = run(&[&arguments[..], &["--json", file.name()]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stdout(&output).starts_with("Instructions per operation"), "{}", stdout(&output));
        let report = file.json();
        let counts: Vec<f64> = report["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r["median"].as_f64().unwrap())
            .collect();
        // A bump is a handful of instructions; a call to a constructor is more.
        assert_eq!(counts.len(), 2, "{report}");
        assert!(counts.iter().all(|n| (3.0..100.0).contains(n)), "{counts:?}");
        assert!(counts[0] < counts[1], "{counts:?}");
    }
}

#[test]
fn a_library_to_preload_is_no_peer_of_functions() {
    let peer = format!("twin={}", install_folder().join("liballod.so").display());
    for suite in ["frame", "region"] {
        let output = run(&["bench", suite, "--peer", &peer]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("--peer twin"), "{}", stderr(&output));
    }
}
