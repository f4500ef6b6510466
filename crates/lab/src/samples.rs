//! Samples as they are collected, and the report made from them.

use crate::model::{Comparison, Failure, Report, ResultRow};
use crate::stats;

/// The name under which the geometric mean over a suite's workloads is reported.
pub const GEOMETRIC_MEAN: &str = "geometric-mean";

/// All samples of one suite.
#[derive(Clone, Debug)]
pub struct Samples {
    /// The group of workloads, such as `heap`.
    pub suite: String,
    /// What a sample counts, such as `ns/op`; less is better.
    pub unit: String,
    /// One cell for each workload and subject, in the order of first use.
    pub cells: Vec<Cell>,
}

/// The samples of one subject in one workload, one a round.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The workload's name.
    pub workload: String,
    /// The subject's name.
    pub subject: String,
    /// One cost a round.
    pub costs: Vec<f64>,
    /// One peak resident set a round, in KiB; empty within one process.
    pub peak_rss_kib: Vec<u64>,
    /// Why the subject did not finish, if it did not.
    pub failure: Option<String>,
}

impl Samples {
    /// An empty collection.
    pub fn new(suite: &str, unit: &str) -> Self {
        Self { suite: suite.into(), unit: unit.into(), cells: Vec::new() }
    }

    /// The cell of a workload and subject, made when it is not there yet.
    pub fn cell(&mut self, workload: &str, subject: &str) -> &mut Cell {
        let found = self.cells.iter().position(|c| c.workload == workload && c.subject == subject);
        let index = found.unwrap_or_else(|| {
            self.cells.push(Cell {
                workload: workload.into(),
                subject: subject.into(),
                costs: Vec::new(),
                peak_rss_kib: Vec::new(),
                failure: None,
            });
            self.cells.len() - 1
        });
        &mut self.cells[index]
    }

    /// The workloads, each once, in the order of first use.
    pub fn workloads(&self) -> Vec<&str> {
        distinct(self.cells.iter().map(|c| c.workload.as_str()))
    }

    /// The subjects, each once, in the order of first use.
    pub fn subjects(&self) -> Vec<&str> {
        distinct(self.cells.iter().map(|c| c.subject.as_str()))
    }

    /// Adds summaries, comparisons with `baseline` (also of peak memory), geometric means (when there
    /// are several workloads) and failures to `report`.
    pub fn report_to(&self, report: &mut Report, baseline: &str, threshold: f64) {
        self.results_to(report);
        self.comparisons_to(report, baseline, threshold);
        if self.cells.iter().any(|c| !c.peak_rss_kib.is_empty()) {
            self.peaks().comparisons_to(report, baseline, threshold);
        }
    }

    /// Adds summaries, comparisons and failures, without a mean: for rows that are views of one
    /// measurement, such as its quantiles.
    pub fn rows_to(&self, report: &mut Report, baseline: &str, threshold: f64) {
        self.results_to(report);
        for subject in self.subjects().into_iter().filter(|s| *s != baseline) {
            self.compare_rows_to(report, subject, baseline, threshold);
        }
    }

    /// The suite of peak memory, whose comparisons say how many times leaner a subject is.
    pub fn peak_suite(suite: &str) -> String {
        format!("{suite}-peak")
    }

    /// Peak memory as samples of its own.
    fn peaks(&self) -> Self {
        let as_costs = |cell: &Cell| Cell {
            costs: cell.peak_rss_kib.iter().map(|&kib| kib as f64).collect(),
            peak_rss_kib: Vec::new(),
            ..cell.clone()
        };
        Self {
            suite: Self::peak_suite(&self.suite),
            unit: "KiB".into(),
            cells: self.cells.iter().map(as_costs).collect(),
        }
    }

    fn comparisons_to(&self, report: &mut Report, baseline: &str, threshold: f64) {
        for subject in self.subjects().into_iter().filter(|s| *s != baseline) {
            self.compare_to(report, subject, baseline, threshold);
        }
    }

    /// Adds summaries and failures to `report`, without comparing.
    pub fn results_to(&self, report: &mut Report) {
        for cell in &self.cells {
            match &cell.failure {
                Some(reason) => report.failures.push(Failure {
                    suite: self.suite.clone(),
                    workload: cell.workload.clone(),
                    subject: cell.subject.clone(),
                    reason: reason.clone(),
                }),
                None if cell.costs.is_empty() => {}
                None => report.results.push(self.row(cell)),
            }
        }
    }

    fn row(&self, cell: &Cell) -> ResultRow {
        let rss: Vec<f64> = cell.peak_rss_kib.iter().map(|&k| k as f64).collect();
        ResultRow {
            suite: self.suite.clone(),
            workload: cell.workload.clone(),
            subject: cell.subject.clone(),
            unit: self.unit.clone(),
            summary: stats::summary(&cell.costs),
            peak_rss_kib: (!rss.is_empty()).then(|| stats::median(&rss).round() as u64),
        }
    }

    /// The mean over the suite is left out for a subject that lost a row the baseline has: a mean
    /// over fewer rows would flatter it.
    fn compare_to(&self, report: &mut Report, subject: &str, baseline: &str, threshold: f64) {
        let (ratios, lost) = self.compare_rows_to(report, subject, baseline, threshold);
        if ratios.len() > 1 && !lost {
            let ratio = stats::geometric(&ratios, threshold);
            report.comparisons.push(Comparison::new(
                &self.suite,
                GEOMETRIC_MEAN,
                subject,
                baseline,
                ratio,
            ));
        }
    }

    /// Gives the logarithms of the ratios of each row that both have, and whether the subject lost a row.
    fn compare_rows_to(
        &self,
        report: &mut Report,
        subject: &str,
        baseline: &str,
        threshold: f64,
    ) -> (Vec<Vec<f64>>, bool) {
        let mut ratios = Vec::new();
        let mut lost = false;
        for workload in self.workloads() {
            let Some(base) = self.finished(workload, baseline) else { continue };
            let Some(cell) = self.finished(workload, subject) else {
                lost = true;
                continue;
            };
            let ratio = stats::compare(&base.costs, &cell.costs, threshold);
            ratios.push(stats::log_ratios(&base.costs, &cell.costs));
            report.comparisons.push(Comparison::new(
                &self.suite,
                workload,
                subject,
                baseline,
                ratio,
            ));
        }
        (ratios, lost)
    }

    fn finished(&self, workload: &str, subject: &str) -> Option<&Cell> {
        self.cells.iter().find(|c| {
            c.workload == workload
                && c.subject == subject
                && c.failure.is_none()
                && !c.costs.is_empty()
        })
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Samples {
        let mut s = Samples::new("heap", "ns/op");
        for (workload, factor) in [("a", 1.0), ("b", 4.0)] {
            s.cell(workload, "base").costs = vec![4.0, 4.0, 4.0];
            s.cell(workload, "fast").costs = vec![4.0 / factor; 3];
        }
        s
    }

    #[test]
    fn geometric_mean_stands_beside_the_rows() {
        let mut report = Report::new();
        samples().report_to(&mut report, "base", 0.01);
        let mean = report.comparison("heap", GEOMETRIC_MEAN, "fast").unwrap().ratio;
        assert!((mean - 2.0).abs() < 1e-12);
        assert!((report.comparison("heap", "b", "fast").unwrap().ratio - 4.0).abs() < 1e-12);
        assert_eq!(report.results.len(), 4);
    }

    #[test]
    fn peak_memory_is_compared_beside_time() {
        let mut s = samples();
        for (subject, kib) in [("base", 3000), ("fast", 2000)] {
            s.cell("a", subject).peak_rss_kib = vec![kib; 3];
        }
        let mut report = Report::new();
        s.report_to(&mut report, "base", 0.01);
        assert!((report.comparison("heap-peak", "a", "fast").unwrap().ratio - 1.5).abs() < 1e-12);
        assert!(report.result("heap-peak", "a", "fast").is_none(), "it stands in peak_rss_kib");
    }

    #[test]
    fn rows_that_are_views_of_one_measurement_have_no_mean() {
        let mut report = Report::new();
        samples().rows_to(&mut report, "base", 0.01);
        assert!((report.comparison("heap", "b", "fast").unwrap().ratio - 4.0).abs() < 1e-12);
        assert!(report.comparison("heap", GEOMETRIC_MEAN, "fast").is_none());
        assert_eq!(report.results.len(), 4);
    }

    #[test]
    fn a_lost_row_is_reported_and_costs_the_mean() {
        let mut s = samples();
        s.cell("b", "fast").failure = Some("killed by signal 11".into());
        let mut report = Report::new();
        s.report_to(&mut report, "base", 0.01);
        assert_eq!(report.failures[0].reason, "killed by signal 11");
        assert!(report.comparison("heap", GEOMETRIC_MEAN, "fast").is_none());
        assert!(report.result("heap", "b", "fast").is_none());
    }
}
