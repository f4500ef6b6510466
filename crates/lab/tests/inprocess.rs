//! In-process suites as they run: this program is started again for each sample, and so has a `main` of
//! its own.

use allod_lab::driver::Rule;
use allod_lab::inprocess::{Bench, child_of};
use allod_lab::model::{Report, metric, values};
use std::hint::black_box;

const TESTS: [(&str, fn()); 5] = [
    ("thirty_times_the_work_takes_many_times_the_time", thirty_times),
    ("a_subject_that_computes_something_else_has_failed", other_work),
    ("a_crash_loses_a_row_and_not_the_run", crash),
    ("a_subject_that_ends_the_program_printed_no_result", no_result),
    ("every_sample_is_a_process_of_its_own", own_process),
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
