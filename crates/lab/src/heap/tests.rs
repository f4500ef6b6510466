//! The suite as it runs.

use super::*;
use crate::driver::{Rule, Terms};
use crate::model::values;
use crate::subject::Subject;
use crate::views::GEOMETRIC_MEAN;

fn subject(name: &str, library: Option<PathBuf>) -> Subject {
    Subject { name: name.into(), library, origin: String::new() }
}

fn chosen(names: &[&str]) -> Vec<Entry> {
    workloads(&names.iter().map(|&n| n.into()).collect::<Vec<_>>()).unwrap()
}

fn request<'a>(subjects: &'a [Subject], workloads: &'a [Entry], runs: usize) -> Request<'a> {
    let terms = Terms { seed: 1, ..Terms::of(Rule::rounds(runs)) };
    let contest = Contest { subjects, baseline: &subjects[0].name, terms };
    Request { contest, workloads, scale: 0.0001, threads: 2 }
}

#[test]
fn counted_instructions_tell_the_null_subject_from_an_allocator() {
    let subjects = [subject("system", None)];
    let lifo = chosen(&["lifo", "latency"]);
    let mut request = Request { scale: 0.02, ..request(&subjects, &lifo, 6) };
    request.contest.terms.counting = true;
    let report = run(&request, |_| {}).unwrap();
    let count = |arm| report.result(INSTRUCTIONS, "lifo", arm).unwrap().summary.median;
    assert!(count("system") > count(NULL) + 5.0, "{} {}", count("system"), count(NULL));
    assert!((5.0..1000.0).contains(&count("system")), "{}", count("system"));
    assert_eq!(report.rounds(), 1, "they are the same in every round");
    assert!(tables(&request, &report).contains("Instructions per operation"));
}

#[test]
fn every_workload_runs_on_the_system_and_on_the_null_subject() {
    let subjects = [subject("system", None)];
    let quick: Vec<Entry> = WORKLOADS.into_iter().filter(|w| w.name != "burst-idle").collect();
    let report = run(&request(&subjects, &quick, 1), |_| {}).unwrap();
    assert_eq!(report.failures, []);
    assert_eq!(report.results.iter().filter(|r| r.suite == SUITE).count(), 2 * quick.len());
    assert!(report.results.iter().all(|r| r.summary.median > 0.0));
    assert!(report.results.iter().all(|r| r.suite != SUITE || r.peak_rss_kib > Some(0)));
}

#[test]
fn latency_reports_every_quantile_in_order_and_no_mean_of_them() {
    let subjects = ["system", "again"].map(|name| subject(name, None));
    let latency = chosen(&["latency"]);
    let request = Request { scale: 0.003, ..request(&subjects, &latency, 3) };
    let report = run(&request, |_| {}).unwrap();
    for subject in ["system", "again", NULL] {
        let row = |q| report.result(LATENCY, q, subject).expect(q).summary.median;
        let times = QUANTILES.map(row);
        assert!(times[0] >= 20.0 && times.is_sorted(), "{subject}: {times:?}");
    }
    assert!(report.comparison(LATENCY, "p99.9", "again").is_some());
    assert!(report.comparison(LATENCY, "p99.9", NULL).is_none());
    assert!(report.comparison(LATENCY, GEOMETRIC_MEAN, "again").is_none());
    assert!(tables(&request, &report).contains("the clock's own cost"));
}

/// The null subject under another name is an allocator whose blocks overlap. Not in
/// `producer-consumer`: whether a block is still in use when it is handed out again is a matter of
/// timing there.
#[test]
fn an_allocator_whose_blocks_overlap_loses_the_row() {
    let subjects = [subject("broken", Some(files::null_subject().unwrap()))];
    let names = ["random-mixed", "lifo", "realloc-grow", "larson"];
    let broken = chosen(&names);
    let request = Request { scale: 0.01, ..request(&subjects, &broken, 1) };
    let report = run(&request, |_| {}).unwrap();
    let lost: Vec<&str> = report.failures.iter().map(|f| f.workload.as_str()).collect();
    assert_eq!(lost, names, "{:?}", report.failures);
}

#[test]
fn a_subject_that_does_not_serve_malloc_is_reported_as_failed() {
    let subjects = [subject("impostor", Some("/nowhere/libother.so".into()))];
    let report = run(&request(&subjects, &chosen(&["pairs-16"]), 1), |_| {}).unwrap();
    assert!(report.failures[0].reason.contains("served malloc instead"), "{report:?}");
}

#[test]
fn threads_of_a_workload_are_told() {
    let subjects = [subject("system", None)];
    let both = chosen(&["lifo", "larson", "latency"]);
    let report = run(&Request { threads: 3, ..request(&subjects, &both, 1) }, |_| {}).unwrap();
    let threads = |w| values(&report.observations, w, "system", &metric::THREADS);
    assert_eq!(
        [threads("lifo"), threads("larson"), threads("latency")],
        [vec![], vec![3.0], vec![2.0]]
    );
}

#[test]
fn what_a_process_used_is_observed_beside_the_time() {
    let subjects = [subject("system", None)];
    let report = run(&request(&subjects, &chosen(&["lifo"]), 2), |_| {}).unwrap();
    for name in ["time", "wall", "user", "system", "peak", "minor-faults", "loop"] {
        let of_null = report.observations.iter().filter(|o| o.arm == NULL);
        assert_eq!(of_null.filter(|o| o.metric.name == name && o.counts).count(), 2, "{name}");
    }
}
