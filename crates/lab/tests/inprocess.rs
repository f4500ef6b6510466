//! In-process suites as they run: this program is started again for each sample, and so has a `main` of
//! its own.

use allod_lab::driver::{Rule, Terms};
use allod_lab::inprocess::{Bench, child_of};
use allod_lab::model::{Report, metric, values};
use std::hint::black_box;

const TESTS: [(&str, fn()); 8] = [
    ("thirty_times_the_work_takes_many_times_the_time", thirty_times),
    ("a_subject_that_computes_something_else_has_failed", other_work),
    ("a_crash_loses_a_row_and_not_the_run", crash),
    ("a_subject_that_ends_the_program_printed_no_result", no_result),
    ("every_sample_is_a_process_of_its_own", own_process),
    ("threads_are_told_and_groups_have_quantiles", groups),
    ("instructions_of_the_timed_parts_are_counted_and_no_others", counted),
    ("a_count_leaves_out_workloads_of_several_threads", uncounted),
];

fn main() {
    for (name, test) in TESTS {
        // A child measures; what its parent expects of the report is none of its business.
        if child_of().is_none_or(|suite| suite == name) {
            test();
            println!("test {name} ... ok");
        }
    }
}

fn counting() -> Terms {
    Terms { counting: true, ..Terms::of(Rule::rounds(1)) }
}

fn run(bench: Bench) -> Report {
    bench.rule(Rule::rounds(6)).sample_ms(0.5).run(|_| {}).expect("the laboratory is whole")
}

/// Subjects of one workload must agree on the checksum.
fn spin(n: u64) -> u64 {
    black_box((0..n).fold(0, |a, i| black_box(a ^ i)));
    0
}

fn thirty_times() {
    let mut bench = Bench::new(TESTS[0].0);
    bench.add("spin", "much", 1, || spin(300_000));
    bench.add("spin", "little", 1, || spin(10_000));
    let report = run(bench);
    let ratio = report.comparison(TESTS[0].0, "spin", "little").unwrap().ratio;
    // The tests run beside others on a busy machine: only large factors are told apart here.
    assert!((5.0..180.0).contains(&ratio), "{ratio}");
    assert_eq!(report.rounds(), 6);
}

fn other_work() {
    let mut bench = Bench::new(TESTS[1].0);
    bench.add("w", "right", 1, || 1);
    bench.add("w", "wrong", 1, || 2);
    let report = run(bench);
    assert_eq!(report.failures.len(), 1);
    assert_eq!(report.failures[0].subject, "wrong");
    assert!(report.comparisons.is_empty());
}

fn crash() {
    let mut bench = Bench::new(TESTS[2].0);
    bench.add("w", "whole", 1, || 1);
    bench.add("w", "broken", 1, || std::process::abort());
    bench.add("w", "loud", 1, || {
        eprintln!("out of luck");
        std::process::exit(3)
    });
    let report = run(bench);
    let reason = |subject: &str| {
        let found = report.failures.iter().find(|f| f.subject == subject);
        found.map(|f| f.reason.as_str())
    };
    assert_eq!(reason("broken"), Some("it aborted"));
    assert_eq!(reason("loud"), Some("it ended with exit code 3: out of luck"));
    assert_eq!(report.results.len(), 1);
}

fn no_result() {
    let mut bench = Bench::new(TESTS[3].0);
    bench.add("w", "silent", 1, || std::process::exit(0));
    assert_eq!(run(bench).failures[0].reason, "it printed no result");
}

fn own_process() {
    let mut bench = Bench::new(TESTS[4].0);
    let mut calls = 0;
    bench.add("w", "counts", 1, move || {
        calls += 1;
        assert!(calls < 1 << 20, "what one process counted is not carried on in another");
        spin(100)
    });
    let report = run(bench);
    assert_eq!(report.failures, []);
    for metric in [metric::TIME, metric::PEAK, metric::WALL] {
        assert_eq!(values(&report.observations, "w", "counts", &metric).len(), 6);
    }
}

fn groups() {
    let mut bench = Bench::new(TESTS[5].0);
    for (subject, n) in [("short", 10), ("long", 10_000)] {
        bench.add_timed("latency", subject, 2000, move |timer| {
            (0..100).for_each(|_| {
                timer.time(|| spin(n));
                timer.group();
            });
            0
        });
    }
    bench.uses_threads("latency", 2);
    let report = run(bench);
    let suite = format!("{}-latency", TESTS[5].0);
    let quantile = |q, subject| report.result(&suite, q, subject).expect(q).summary.median;
    for subject in ["short", "long"] {
        let all = ["p50", "p99", "p99.9", "p99.99", "longest"].map(|q| quantile(q, subject));
        assert!(all[0] > 0.0 && all.is_sorted(), "{subject}: {all:?}");
    }
    assert!(quantile("p50", "long") > 50.0 * quantile("p50", "short"));
    let ratio = report.comparison(&suite, "p50", "long").expect("both have quantiles").ratio;
    assert!(ratio < 0.1, "{ratio}");
    assert_eq!(values(&report.observations, "latency", "long", &metric::THREADS), [2.0; 6]);
}

/// `n` additions in a loop that stays a loop, whatever it is inlined into.
#[inline(never)]
fn additions(n: u64) -> u64 {
    (0..n).fold(0, |sum, i| black_box(sum + i))
}

fn counted() {
    let mut bench = Bench::new(TESTS[6].0);
    for (subject, n) in [("once", 1000), ("twice", 2000)] {
        bench.add_timed("sum", subject, 1000, move |timer| {
            // Preparation that is many times the work.
            black_box(additions(100_000));
            timer.time(|| black_box(additions(n)));
            0
        });
        bench.add_timed("in-parts", subject, 1000, move |timer| {
            (0..n / 100).for_each(|_| {
                timer.time(|| black_box(additions(100)));
            });
            0
        });
        bench.add_timed("nothing", subject, 1000, move |timer| {
            (0..n).for_each(|_| timer.time(|| ()));
            0
        });
    }
    let report = bench.terms(counting()).run(|_| {}).expect("the laboratory is whole");
    assert_eq!(report.failures, []);
    let suite = allod_lab::inprocess::instructions_suite(TESTS[6].0);
    let count = |w, s| report.result(&suite, w, s).expect("it was counted").summary.median;
    for workload in ["sum", "in-parts"] {
        let (once, twice) = (count(workload, "once"), count(workload, "twice"));
        assert!((2.0..20.0).contains(&once), "a few an addition: {workload} {once}");
        assert!((twice / once - 2.0).abs() < 0.02, "{workload}: {once} {twice}");
    }
    // Two parts an operation, each of which the compiler may make an instruction or two longer here.
    assert!(count("nothing", "twice") <= 4.0, "{}", count("nothing", "twice"));
}

fn uncounted() {
    let mut bench = Bench::new(TESTS[7].0);
    bench.add("one", "a", 1, || additions(10));
    bench.add("several", "a", 1, || additions(10));
    bench.uses_threads("several", 2);
    let report = bench.terms(counting()).run(|_| {}).expect("the laboratory is whole");
    let counted: Vec<&str> = report.results.iter().map(|r| r.workload.as_str()).collect();
    assert_eq!((counted, report.failures), (vec!["one"], vec![]));
}
