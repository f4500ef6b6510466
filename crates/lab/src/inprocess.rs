//! Subjects that are functions: measured interleaved within one process.
//!
//! Regions and frames are compared with other libraries, not with other mallocs, so that a subject is
//! a closure rather than a preloaded library. Everything else is as for processes: rounds in drawn
//! order, a warm-up, paired ratios, the same report.
//!
//! ```
//! use allod_lab::inprocess::Bench;
//!
//! let mut bench = Bench::new("frame");
//! // 1000 operations a call; the checksum proves that both subjects did the same work.
//! bench.add("sum", "loop", 1000, || (0..1000u64).map(std::hint::black_box).sum());
//! bench.add("sum", "formula", 1000, || std::hint::black_box(1000u64) * 999 / 2);
//! // Only what runs inside `timer.time` counts here; the rest is preparation.
//! bench.add_timed("sort", "std", 100, |timer| {
//!     let mut v: Vec<u64> = (0..100).rev().collect();
//!     timer.time(|| v.sort_unstable());
//!     v[99]
//! });
//! let report = bench.rounds(5).sample_ms(0.1).baseline("loop").run(|_| {});
//! assert_eq!(report.results.len(), 3);
//! assert_eq!(report.comparisons[0].subject, "formula");
//! ```

use crate::Step;
use crate::model::Report;
use crate::samples::Samples;
use crate::schedule;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Adds up the time of the parts that count.
#[derive(Debug, Default)]
pub struct Timer(Duration);

impl Timer {
    /// Runs `work` and adds its time; may be called several times.
    pub fn time<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = black_box(work());
        self.0 += start.elapsed();
        result
    }

    /// Adds time that was measured otherwise, as by several threads.
    pub fn add(&mut self, time: Duration) {
        self.0 += time;
    }
}

struct Case<'a> {
    workload: String,
    subject: String,
    operations: u64,
    call: Box<dyn FnMut(&mut Timer) -> u64 + 'a>,
    /// Calls that make one sample, found in the warm-up.
    calls: u32,
}

/// A suite of closures to be measured against each other.
pub struct Bench<'a> {
    suite: String,
    cases: Vec<Case<'a>>,
    rounds: usize,
    sample: Duration,
    baseline: Option<String>,
    threshold: f64,
}

impl<'a> Bench<'a> {
    /// An empty suite: 10 rounds, samples of at least 5 ms, threshold ±1 %, and the first subject of
    /// the first workload as baseline.
    pub fn new(suite: &str) -> Self {
        Self {
            suite: suite.into(),
            cases: Vec::new(),
            rounds: 10,
            sample: Duration::from_millis(5),
            baseline: None,
            threshold: 0.01,
        }
    }

    /// Adds a subject whose whole call counts.
    ///
    /// A call does `operations` operations and returns a checksum of what it made. The checksum must
    /// be the same in every call and for every subject of the workload; a subject that disagrees with
    /// the workload's first one is reported as failed.
    pub fn add(
        &mut self,
        workload: &str,
        subject: &str,
        operations: u64,
        mut call: impl FnMut() -> u64 + 'a,
    ) {
        self.add_timed(workload, subject, operations, move |timer| timer.time(&mut call));
    }

    /// Adds a subject that prepares or tidies up outside the measured part: only what it runs inside
    /// [`Timer::time`] counts. Reading the clock costs some 20 ns each time, so a measured part
    /// should take a microsecond or more.
    pub fn add_timed(
        &mut self,
        workload: &str,
        subject: &str,
        operations: u64,
        call: impl FnMut(&mut Timer) -> u64 + 'a,
    ) {
        self.cases.push(Case {
            workload: workload.into(),
            subject: subject.into(),
            operations: operations.max(1),
            call: Box::new(call),
            calls: 1,
        });
    }

    /// How many samples to take of each subject.
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// The least measured time of one sample, in milliseconds; calls are repeated to reach it.
    pub fn sample_ms(mut self, ms: f64) -> Self {
        self.sample = Duration::from_secs_f64(ms / 1000.0);
        self
    }

    /// The subject that the others are compared with.
    pub fn baseline(mut self, subject: &str) -> Self {
        self.baseline = Some(subject.into());
        self
    }

    /// The smallest difference that counts, 0.01 for ±1 %.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = threshold;
        self
    }

    /// Keeps only the named workloads; an empty list keeps all.
    ///
    /// # Errors
    /// Names the first workload that the suite does not have, and those that it has.
    pub fn only(mut self, workloads: &[String]) -> Result<Self, String> {
        let known = self.workloads();
        if let Some(unknown) = workloads.iter().find(|w| !known.contains(w)) {
            return Err(format!("no workload {unknown:?}; there are: {}", known.join(", ")));
        }
        self.cases.retain(|c| workloads.is_empty() || workloads.contains(&c.workload));
        Ok(self)
    }

    /// The workloads' names, each once.
    pub fn workloads(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for case in &self.cases {
            if !names.contains(&case.workload) {
                names.push(case.workload.clone());
            }
        }
        names
    }

    /// Measures everything and reports it in `ns/op`; `progress` is told of each step.
    ///
    /// Workloads run one after another; within a workload the subjects are interleaved.
    pub fn run(mut self, mut progress: impl FnMut(&Step)) -> Report {
        let mut samples = Samples::new(&self.suite, "ns/op");
        let total = self.cases.len() * (self.rounds + 1);
        let mut done = 0;
        for workload in self.workloads() {
            let mut cases: Vec<&mut Case> =
                self.cases.iter_mut().filter(|c| c.workload == workload).collect();
            let mut expected = None;
            for case in &mut cases {
                progress(&Step { done, total, workload: &workload, subject: &case.subject });
                done += 1;
                let checksum = case.warm_up(self.sample);
                let cell = samples.cell(&workload, &case.subject);
                if checksum != *expected.get_or_insert(checksum) {
                    cell.failure = Some("its checksum differs from the first subject's".into());
                }
            }
            for turn in schedule::interleaved(self.rounds, cases.len(), 0x5EED) {
                let case = &mut cases[turn.subject];
                progress(&Step { done, total, workload: &workload, subject: &case.subject });
                done += 1;
                let cell = samples.cell(&workload, &case.subject);
                if cell.failure.is_none() {
                    let (ns, checksum) = case.sample();
                    cell.costs.push(ns);
                    if Some(checksum) != expected {
                        cell.failure = Some("its checksum changed between calls".into());
                    }
                }
            }
        }
        let baseline = self.baseline.or_else(|| self.cases.first().map(|c| c.subject.clone()));
        let mut report = Report::new();
        samples.report_to(&mut report, baseline.as_deref().unwrap_or(""), self.threshold);
        report
    }
}

impl Case<'_> {
    /// Calls until a sample's time has passed, at least twice, and sets how many calls make a sample.
    fn warm_up(&mut self, sample: Duration) -> u64 {
        let mut timer = Timer::default();
        let mut checksum = (self.call)(&mut timer);
        let mut spent = Timer::default();
        let mut calls = 0u32;
        let begun = Instant::now();
        let deadline = begun + 20 * sample;
        while calls == 0 || (spent.0 < sample && calls < 1 << 24 && Instant::now() < deadline) {
            checksum = (self.call)(&mut spent);
            calls += 1;
        }
        let one = (spent.0.as_secs_f64() / f64::from(calls)).max(1e-9);
        // Preparation that does not count must not make a sample endless.
        let whole = (begun.elapsed().as_secs_f64() / f64::from(calls)).max(1e-9);
        let wanted = (sample.as_secs_f64() / one).min(20.0 * sample.as_secs_f64() / whole);
        self.calls = wanted.ceil().clamp(1.0, f64::from(1 << 24)) as u32;
        checksum
    }

    /// One sample: nanoseconds an operation, and the last checksum.
    fn sample(&mut self) -> (f64, u64) {
        let mut timer = Timer::default();
        let mut checksum = 0;
        for _ in 0..self.calls {
            checksum = (self.call)(&mut timer);
        }
        let operations = self.operations as f64 * f64::from(self.calls);
        (timer.0.as_secs_f64() * 1e9 / operations, checksum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spin(n: u64) -> u64 {
        (0..n).fold(0, |a, i| black_box(a ^ i))
    }

    /// Subjects of one workload must agree on the checksum.
    fn done(result: u64) -> u64 {
        black_box(result);
        0
    }

    // The tests run beside others on a busy machine: only large factors are told apart here.
    #[test]
    fn thirty_times_the_work_takes_many_times_the_time() {
        let mut bench = Bench::new("t");
        bench.add("spin", "much", 1, || done(spin(300_000)));
        bench.add("spin", "little", 1, || done(spin(10_000)));
        let report = bench.rounds(9).sample_ms(0.5).run(|_| {});
        let ratio = report.comparison("t", "spin", "little").unwrap().ratio;
        assert!((5.0..180.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn only_the_timed_part_counts() {
        let mut bench = Bench::new("t");
        bench.add("w", "all", 1, || done(spin(300_000)));
        bench.add_timed("w", "part", 1, |timer| {
            spin(300_000);
            timer.time(|| done(spin(10_000)))
        });
        let report = bench.rounds(9).sample_ms(0.2).run(|_| {});
        assert!(report.comparison("t", "w", "part").unwrap().ratio > 5.0);
    }

    #[test]
    fn a_subject_that_does_other_work_is_reported_as_failed() {
        let mut bench = Bench::new("t");
        bench.add("w", "right", 1, || 1);
        bench.add("w", "wrong", 1, || 2);
        let report = bench.rounds(3).sample_ms(0.01).run(|_| {});
        assert_eq!(report.failures[0].subject, "wrong");
        assert!(report.comparisons.is_empty());
    }

    #[test]
    fn every_step_is_announced_once() {
        let mut bench = Bench::new("t");
        bench.add("a", "x", 1, || 0);
        bench.add("b", "x", 1, || 0);
        let mut steps = Vec::new();
        let report = bench.rounds(3).sample_ms(0.01).run(|s| steps.push((s.done, s.total)));
        assert_eq!(steps, (0..8).map(|i| (i, 8)).collect::<Vec<_>>());
        assert_eq!(report.results.len(), 2);
    }

    #[test]
    fn an_unknown_workload_is_named_with_those_that_exist() {
        let mut bench = Bench::new("t");
        bench.add("a", "x", 1, || 0);
        let message = bench.only(&["z".into()]).err().unwrap();
        assert_eq!(message, "no workload \"z\"; there are: a");
    }
}
