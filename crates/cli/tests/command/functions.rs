//! `allod bench frame` and `allod bench region`.

use crate::{Scratch, install_folder, run, stderr, stdout};

#[test]
fn functions_are_measured_in_processes_of_their_own() {
    let file = Scratch::new("frame.json");
    let arguments = ["bench", "frame", "--quick", "--only", "physics,allod,malloc"];
    let output = run(&[&arguments[..], &["--json", file.name()]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    for word in ["physics", "bumpalo", "Promises", "Times faster"] {
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
fn a_library_to_preload_is_no_peer_of_functions() {
    let peer = format!("twin={}", install_folder().join("liballod.so").display());
    for suite in ["frame", "region"] {
        let output = run(&["bench", suite, "--peer", &peer]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("--peer twin"), "{}", stderr(&output));
    }
}
