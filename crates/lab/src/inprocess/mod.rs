//! Subjects that are functions.
//!
//! Regions and frames are compared with other libraries, not with other mallocs, so a subject is a
//! closure rather than a preloaded library. Everything else is as for processes, since each sample *is*
//! one: [`Bench::run`] starts the same program again, and that child measures one subject once. So a
//! crash costs a row, not the run, and intervals include the variation between processes.
//!
//! ```standalone_crate
//! use allod_lab::inprocess::Bench;
//! use allod_lab::driver::Rule;
//!
//! let mut bench = Bench::new("frame");
//! // 1000 operations per call; the checksum proves that both subjects did the same work.
//! bench.add("sum", "loop", 1000, || (0..1000u64).map(std::hint::black_box).sum());
//! bench.add("sum", "formula", 1000, || std::hint::black_box(1000u64) * 999 / 2);
//! // Only what runs inside `timer.time` counts here; the rest is preparation.
//! bench.add_timed("sort", "std", 100, |timer| {
//!     let mut v: Vec<u64> = (0..100).rev().collect();
//!     timer.time(|| v.sort_unstable());
//!     v[99]
//! });
//! let report = bench.rule(Rule::rounds(6)).sample_ms(0.1).baseline("loop").run(|_| {})?;
//! assert_eq!(report.results.len(), 3);
//! assert_eq!(report.comparisons[0].subject, "formula");
//! # Ok::<(), String>(())
//! ```

mod asked;
mod case;
mod child;
mod collect;
mod histogram;
mod parent;
mod row;
mod timer;

pub use row::Row;
pub use timer::Timer;

use crate::Step;
use crate::driver::{Plan, Rule, Seen, Terms};
use crate::heap::{QUANTILE_UNIT, QUANTILES};
use crate::model::{Arm, Metric, Report, Workload, metric};
use crate::names;
use crate::views::{Ratios, View};
use asked::Asked;
use case::Case;
use std::ffi::OsString;
use std::time::Duration;

/// A suite of closures to be measured against each other.
pub struct Bench<'a> {
    suite: String,
    cases: Vec<Case<'a>>,
    /// Workloads that use several threads, and how many.
    threaded: Vec<(String, usize)>,
    /// Rows without which the mean is also given.
    extremes: &'static [&'static str],
    terms: Terms,
    sample: Duration,
    baseline: Option<String>,
    arguments: Vec<OsString>,
    /// What each subject is.
    origins: fn(&str) -> String,
    /// What this process measures, if it is a child.
    asked: Option<Asked>,
}

/// The suite of the case that this process was started to measure; `None` if it is not a child.
///
/// A child does all that its program does before [`Bench::run`]. A program with much to do there asks
/// this first.
pub fn child_of() -> Option<String> {
    asked::asked().map(|asked| asked.suite)
}

impl<'a> Bench<'a> {
    /// An empty suite: 10 rounds, samples of at least 5 ms, threshold ±1 %, and the first subject of
    /// the first workload as baseline.
    pub fn new(suite: &str) -> Self {
        Self {
            suite: suite.into(),
            cases: Vec::new(),
            threaded: Vec::new(),
            extremes: &[],
            terms: Terms::of(Rule::rounds(10)),
            sample: Duration::from_millis(5),
            baseline: None,
            arguments: std::env::args_os().skip(1).collect(),
            origins: |_| String::new(),
            asked: asked::asked(),
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

    /// Adds a subject that prepares or cleans up outside the measured part: only what it runs inside
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
        });
    }

    /// Declares that a workload uses this many threads: its processes may use every processor.
    pub fn uses_threads(&mut self, workload: &str, threads: usize) {
        self.threaded.push((workload.into(), threads));
    }

    /// The geometric mean is also given without these rows.
    pub fn extremes(mut self, rows: &'static [&'static str]) -> Self {
        self.extremes = rows;
        self
    }

    /// The terms of the measurement. If instructions are counted, they are those of the parts that are
    /// otherwise timed, and multi-threaded workloads are left out: the amount of their work depends on
    /// timing.
    pub fn terms(mut self, terms: Terms) -> Self {
        self.terms = terms;
        self
    }

    /// When a workload has been measured often enough.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.terms.rule = rule;
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

    /// What each subject is, with its version, for the provenance of what is measured.
    ///
    /// ```
    /// let bench = allod_lab::inprocess::Bench::new("maps").origins(|subject| match subject {
    ///     "hashbrown" => "hashbrown 0.17".into(),
    ///     _ => String::new(),
    /// });
    /// assert!(bench.subjects().is_empty());
    /// ```
    pub fn origins(mut self, of: fn(&str) -> String) -> Self {
        self.origins = of;
        self
    }

    /// The arguments with which this program reaches the suite when it is started again; by
    /// default, those of this process.
    pub fn started_with(mut self, arguments: &[&str]) -> Self {
        self.arguments = arguments.iter().map(OsString::from).collect();
        self
    }

    /// Keeps only the named workloads, and of their subjects only those named; an empty list keeps all.
    /// The baseline is always kept.
    ///
    /// # Errors
    /// Names the first name that is neither a workload nor a subject, and the nearest one.
    pub fn only(mut self, wanted: &[String]) -> Result<Self, String> {
        let (workloads, subjects) = (self.workloads(), self.subjects());
        let known: Vec<&str> = workloads.iter().chain(&subjects).map(String::as_str).collect();
        names::all_known("workload or subject", wanted, &known)?;
        let any_of = |names: &[String]| wanted.iter().any(|w| names.contains(w));
        let (some_workloads, some_subjects) = (any_of(&workloads), any_of(&subjects));
        let baseline = self.baseline.clone();
        self.cases.retain(|c| {
            (!some_workloads || wanted.contains(&c.workload))
                && (!some_subjects
                    || wanted.contains(&c.subject)
                    || baseline.as_ref() == Some(&c.subject))
        });
        Ok(self)
    }

    /// Whether a workload's subjects are needed: a child measures one workload, and need not
    /// prepare others.
    ///
    /// ```
    /// let bench = allod_lab::inprocess::Bench::new("sums");
    /// assert!(bench.wants("sum"), "this process is no child");
    /// ```
    pub fn wants(&self, workload: &str) -> bool {
        self.asked.as_ref().is_none_or(|asked| asked.workload == workload)
    }

    /// The workloads' names, each once.
    pub fn workloads(&self) -> Vec<String> {
        distinct(self.cases.iter().map(|c| &c.workload))
    }

    /// The subjects' names, each once.
    pub fn subjects(&self) -> Vec<String> {
        distinct(self.cases.iter().map(|c| &c.subject))
    }

    /// Calls every subject once, in this process, and returns a sentence for each whose checksum
    /// differs from that of its workload's first subject.
    ///
    /// ```
    /// let mut bench = allod_lab::inprocess::Bench::new("sums");
    /// bench.add("sum", "loop", 1000, || (0..1000).sum());
    /// bench.add("sum", "formula", 1000, || 1000 * 1001 / 2);
    /// assert_eq!(bench.check(), ["formula of sum made 500500, loop 499500"]);
    /// ```
    pub fn check(mut self) -> Vec<String> {
        let mut first: Option<(String, String, u64)> = None;
        let mut wrong = Vec::new();
        for case in &mut self.cases {
            let (_, sum) = case.calls(1);
            match &first {
                Some((workload, subject, expected)) if *workload == case.workload => {
                    if sum != *expected {
                        let Case { workload, subject: other, .. } = case;
                        wrong.push(format!(
                            "{other} of {workload} made {sum}, {subject} {expected}"
                        ));
                    }
                }
                _ => first = Some((case.workload.clone(), case.subject.clone(), sum)),
            }
        }
        wrong
    }

    /// Measures everything and reports it in `ns/op`; `progress` is called for each step.
    ///
    /// Workloads run one after another; within a workload the subjects are interleaved. Does not return
    /// in a child that is to measure a case of this suite; in a child of another suite the report is
    /// empty.
    ///
    /// # Errors
    /// When this program cannot be started again, or a part of the laboratory is missing.
    pub fn run(mut self, progress: impl FnMut(&Step)) -> Result<Report, String> {
        match self.asked.take() {
            Some(asked) if asked.suite == self.suite => child::serve(&asked, &mut self.cases),
            Some(_) => return Ok(Report::of(Seen::default(), self.terms.seed)),
            None => {}
        }
        let mut names = self.workloads();
        if self.terms.counting {
            names.retain(|name| self.threads(name) == 1);
        }
        let workloads: Vec<Workload> =
            names.iter().map(|name| self.workload(name)).collect::<Result<_, _>>()?;
        let arm = |name: String| Arm { origin: (self.origins)(&name), ..Arm::new(name) };
        let arms: Vec<Arm> = self.subjects().into_iter().map(arm).collect();
        let first = arms.first().map_or("", |arm| arm.name.as_str());
        let baseline = self.baseline.as_deref().unwrap_or(first);
        let plan = Plan {
            suite: &self.suite,
            workloads: &workloads,
            arms: &arms,
            baseline,
            apart: None,
            watched: metric::TIME,
            terms: self.terms,
        };
        let mut report = plan.measure(progress)?;
        let views = self.views(&names, &report);
        plan.show(&mut report, views);
        Ok(report)
    }

    /// Time or instructions of all workloads, and the quantiles of those that have groups.
    fn views(&self, names: &[String], report: &Report) -> Vec<View> {
        let rows = || names.iter().map(String::as_str);
        if self.terms.counting {
            let suite = instructions_suite(&self.suite);
            let counted = View::new(&suite, rows(), &metric::EXECUTED_PER_OPERATION);
            return vec![View { ratios: Ratios::Rows, ..counted }];
        }
        let mut views =
            vec![View::new(&self.suite, rows(), &metric::TIME).with_extremes(self.extremes)];
        let has_groups = |name: &&String| {
            let mut of_it = report.observations.iter().filter(|o| o.workload == **name);
            of_it.any(|o| o.metric.name == QUANTILES[0])
        };
        views.extend(names.iter().filter(has_groups).map(|name| {
            View {
                suite: format!("{}-{name}", self.suite),
                rows: QUANTILES
                    .map(|q| (q.to_owned(), name.clone(), Metric::new(q, QUANTILE_UNIT)))
                    .into(),
                results: true,
                ratios: Ratios::Rows,
            }
        }));
        views
    }

    /// The threads of a workload.
    fn threads(&self, workload: &str) -> usize {
        self.threaded.iter().find(|(name, _)| name == workload).map_or(1, |(_, threads)| *threads)
    }

    /// A workload whose arms are its subjects.
    fn workload(&self, name: &str) -> Result<Workload<'static>, String> {
        let arms = self.subjects_of(name).into_iter().map(Into::into).collect();
        Ok(Workload { arms, ..self.row(name, name, None)?.workload() })
    }

    /// One row, called `name` in reports, for arms that are programs; only for one subject if that is
    /// named.
    ///
    /// # Errors
    /// Names an unknown workload or subject, and the nearest one.
    pub fn row(&self, name: &str, workload: &str, subject: Option<&str>) -> Result<Row, String> {
        let subjects = self.subjects_of(workload);
        if subjects.is_empty() {
            let known = self.workloads();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            return Err(names::unknown("workload", workload, &known));
        }
        if let Some(unknown) = subject.filter(|subject| !subjects.contains(subject)) {
            return Err(names::unknown("subject", unknown, &subjects));
        }
        let program = std::env::current_exe()
            .map_err(|e| format!("cannot tell which program this is: {e}"))?;
        Ok(Row {
            name: name.into(),
            subject: subject.map(Into::into),
            threads: self.threads(workload),
            suite: self.suite.clone(),
            workload: workload.into(),
            program,
            arguments: self.arguments.clone(),
            sample: self.sample,
        })
    }

    /// The subjects of a workload, in order.
    pub fn subjects_of(&self, workload: &str) -> Vec<&str> {
        let cases = self.cases.iter().filter(|c| c.workload == workload);
        cases.map(|c| c.subject.as_str()).collect()
    }
}

/// The name of the suite of counted instructions.
pub fn instructions_suite(suite: &str) -> String {
    format!("{suite}-instructions")
}

fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for name in names {
        if !seen.contains(name) {
            seen.push(name.clone());
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bench() -> Bench<'static> {
        let mut bench = Bench::new("t");
        for (workload, subject) in [("a", "x"), ("a", "y"), ("a", "z"), ("b", "x"), ("b", "z")] {
            bench.add(workload, subject, 1, || 0);
        }
        bench.baseline("x")
    }

    fn kept(wanted: &[&str]) -> String {
        let wanted: Vec<String> = wanted.iter().map(|&w| w.into()).collect();
        let bench = bench().only(&wanted).unwrap();
        bench.cases.iter().map(|c| format!("{}{} ", c.workload, c.subject)).collect()
    }

    #[test]
    fn names_choose_workloads_and_subjects_and_the_baseline_stays() {
        assert_eq!(kept(&[]), "ax ay az bx bz ");
        assert_eq!(kept(&["b"]), "bx bz ");
        assert_eq!(kept(&["y"]), "ax ay bx ");
        assert_eq!(kept(&["a", "z"]), "ax az ");
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_that_exist() {
        let message = bench().only(&["q".into()]).err().unwrap();
        assert_eq!(message, "no workload or subject \"q\"; there are: a, b, x, y, z");
    }

    #[test]
    fn a_subject_that_does_other_work_is_named() {
        let mut bench = bench();
        bench.add("b", "wrong", 1, || 5);
        assert_eq!(bench.check(), ["wrong of b made 5, x 0"]);
    }
}
