//! Measuring an experiment: all points are arms of one plan, interleaved by the driver.

use super::design::Design;
use super::matrix::matrices;
use super::point::Points;
use super::result::{Experiment, FactorRow, PointRow};
use crate::Step;
use crate::compare::{Program, command_line};
use crate::driver::{Plan, Terms};
use crate::heap::{self, Entry};
use crate::inprocess::Row;
use crate::model::{Arm, Metric, Report, Workload, metric};
use crate::views::View;

/// The suite's name in reports.
pub const SUITE: &str = "experiment";

/// What is done at every point.
#[derive(Clone, Debug)]
pub enum Work<'a> {
    /// Workloads of the heap suite.
    BuiltIn {
        /// The workloads.
        entries: &'a [Entry],
        /// How much of each workload's full length to run: 1 for all of it.
        scale: f64,
        /// Threads of those that use several.
        threads: usize,
    },
    /// Rows of suites within the command.
    Rows(&'a [Row]),
    /// A user's program.
    Program(Program<'a>),
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The factors and points.
    pub design: &'a Design,
    /// The arms of the points, by their numbers.
    pub arms: &'a [Arm],
    /// The work done at every point.
    pub work: Work<'a>,
    /// How to measure.
    pub terms: Terms,
}

/// Measures all points and computes the factors' effects.
///
/// # Errors
/// When a part of the laboratory is missing; a point's failure is recorded instead.
pub fn run(request: &Request, progress: impl FnMut(&Step)) -> Result<Report, String> {
    let Request { design, arms, terms, .. } = *request;
    let workloads = request.workloads()?;
    let names: Vec<&str> = workloads.iter().map(|w| w.name.as_str()).collect();
    let metric = request.metric();
    let none = design.points.names[0].as_str();
    let plan = Plan {
        suite: SUITE,
        workloads: &workloads,
        arms,
        baseline: none,
        apart: None,
        watched: metric.clone(),
        terms,
    };
    let mut report = plan.measure(progress)?;
    let names_of = || names.iter().copied();
    plan.show(&mut report, [View::new(SUITE, names_of(), &metric), View::peaks(SUITE, names_of())]);
    let Terms { threshold, counting, .. } = terms;
    let matrices = matrices(&report, &design.points, &names, &metric, threshold, counting);
    report.experiment = Some(Experiment {
        factors: design.factors.iter().map(FactorRow::of).collect(),
        shared: design.shared.text.clone(),
        metric,
        threshold,
        points: arms.iter().enumerate().map(|(i, arm)| point(design, i, arm)).collect(),
        matrices,
    });
    Ok(report)
}

impl Experiment {
    /// The same experiment, with its matrices recomputed from a report's observations.
    pub(crate) fn renewed(self, report: &Report) -> Self {
        let names = |all: &[PointRow]| all.iter().map(|point| point.name.clone()).collect();
        let points = Points {
            factors: self.factors.iter().map(|factor| factor.name.clone()).collect(),
            names: names(&self.points),
        };
        let rows = report.views.iter().filter(|shown| shown.view.suite == SUITE);
        let workloads: Vec<&str> = rows
            .flat_map(|shown| &shown.view.rows)
            .map(|(_, workload, _)| workload.as_str())
            .collect();
        let counted = self.metric.name == metric::EXECUTED.name;
        let matrices = matrices(report, &points, &workloads, &self.metric, self.threshold, counted);
        Self { matrices, ..self }
    }
}

fn point(design: &Design, point: usize, arm: &Arm) -> PointRow {
    PointRow {
        name: arm.name.clone(),
        on: design.points.on(point),
        origin: arm.origin.clone(),
        commit: arm.commit.clone(),
    }
}

impl Request<'_> {
    /// The metric that decides.
    fn metric(&self) -> Metric {
        match (&self.work, self.terms.counting) {
            (Work::BuiltIn { .. } | Work::Rows(_), false) => metric::TIME,
            (Work::BuiltIn { .. } | Work::Rows(_), true) => metric::EXECUTED_PER_OPERATION,
            (Work::Program(program), false) => program.result.cloned().unwrap_or(metric::WALL),
            (Work::Program(_), true) => metric::EXECUTED,
        }
    }

    fn workloads(&self) -> Result<Vec<Workload<'_>>, String> {
        match &self.work {
            Work::BuiltIn { entries, scale, threads } => {
                entries.iter().map(|entry| heap::workload(entry, *scale, *threads)).collect()
            }
            Work::Rows(rows) => {
                match rows.iter().find(|row| self.terms.counting && row.threads > 1) {
                    Some(row) => Err(format!(
                        "{} uses several threads: how many instructions it executes depends on timing",
                        row.name
                    )),
                    None => Ok(rows.iter().map(Row::workload).collect()),
                }
            }
            Work::Program(program) => Ok(vec![Workload {
                name: command_line(program.program, program.arguments),
                // Its number of threads is unknown.
                pinned: false,
                arms: Vec::new(),
                most_rounds: None,
                work: Box::new(program.clone()),
            }]),
        }
    }
}
