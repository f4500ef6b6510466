//! `allod bench heap`.

use crate::{Scratch, run, stderr, stdout};
use serde_json::Value;

#[test]
fn bench_heap_measures_and_writes_json() {
    let file = Scratch::new("bench.json");
    let output = run(&[
        "bench",
        "heap",
        "--quick",
        "--scale",
        "0.001",
        "--runs",
        "3",
        "--only",
        "pairs-16,larson",
        "--subjects",
        "allod,system",
        "--json",
        file.name(),
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    for word in ["pairs-16", "larson", "geometric mean", "null", "Peak memory"] {
        assert!(stdout(&output).contains(word), "{word} in {}", stdout(&output));
    }
    let report = file.json();
    let results = report["results"].as_array().unwrap();
    // Two workloads on Allod, the system, the baseline mimalloc, and the null subject.
    assert_eq!(results.len(), 8, "{report}");
    assert!(results.iter().all(|r| r["suite"] == "heap" && r["unit"] == "ns/op"));
    let baselines = report["comparisons"].as_array().unwrap();
    assert!(baselines.iter().all(|c| c["baseline"].as_str().unwrap().starts_with("mimalloc-3.")));
    assert!(report.get("failures").is_none(), "{report}");
}

#[test]
fn bench_heap_reports_latency_by_quantile_beside_a_burst_of_medium_blocks() {
    let file = Scratch::new("latency.json");
    let arguments = ["bench", "heap", "--quick", "--scale", "0.02", "--runs", "3"];
    let chosen = ["--only", "latency,medium-150k-whole", "--subjects", "allod,system"];
    let output = run(&[&arguments[..], &chosen, &["--json", file.name()]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    for word in ["medium-150k-whole", "Latency: ", "p99.99", "longest"] {
        assert!(stdout(&output).contains(word), "{word} in {}", stdout(&output));
    }
    let report = file.json();
    assert!(report.get("failures").is_none(), "{report}");
    let of = |list: &str, suite: &str, subject: &str| -> Vec<Value> {
        let all = report[list].as_array().unwrap().iter();
        all.filter(|r| r["suite"] == suite && r["subject"] == subject).cloned().collect()
    };
    for subject in ["allod", "system", "null"] {
        assert_eq!(of("results", "heap", subject).len(), 2, "{report}");
        let rows = of("results", "heap-latency", subject);
        assert_eq!(rows.len(), 5, "{report}");
        assert!(rows.iter().all(|r| r["unit"] == "ns/20 ops"));
        let times: Vec<f64> = rows.iter().map(|r| r["median"].as_f64().unwrap()).collect();
        assert!(times.is_sorted(), "{subject}: {times:?}");
    }
    // Five quantiles against the baseline, and no mean over them.
    assert_eq!(of("comparisons", "heap-latency", "allod").len(), 5, "{report}");
}

/// With the feature `peers`, every allocator that was built runs every workload.
#[cfg(feature = "peers")]
#[test]
fn every_built_peer_runs_the_heap_suite() {
    let file = Scratch::new("peers.json");
    let built: Vec<String> =
        allod_peers::built().iter().map(|p| format!("{}-{}", p.name, p.version)).collect();
    let output = run(&[
        "bench",
        "heap",
        "--scale",
        "0.001",
        "--runs",
        "1",
        "--subjects",
        &built.join(","),
        "--json",
        file.name(),
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report = file.json();
    assert!(report.get("failures").is_none(), "{report}");
    for subject in built {
        let rows = report["results"].as_array().unwrap();
        let rows = rows.iter().filter(|r| r["subject"] == subject.as_str() && r["suite"] == "heap");
        assert_eq!(rows.count(), allod_lab::heap::WORKLOADS.len(), "{subject}");
    }
}

#[test]
fn bench_heap_lists_its_workloads() {
    let output = run(&["bench", "heap", "--list"]);
    assert!(output.status.success());
    assert_eq!(stdout(&output).lines().count(), allod_lab::heap::WORKLOADS.len());
}
