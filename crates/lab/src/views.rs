//! Results and comparisons, made from observations. A view is a suite of results: it names the workload and
//! the metric of each row. Usually the rows are workloads with the same metric; latency quantiles are the
//! other way round, metrics of one workload.

use crate::model::{Comparison, Metric, Report, ResultRow, metric, pairs, values};
pub use crate::model::{Ratios, View};
use crate::stats;

/// The name under which the geometric mean over a suite's rows is reported.
pub const GEOMETRIC_MEAN: &str = "geometric-mean";

/// The name of the mean that leaves some rows out.
///
/// ```
/// use allod_lab::views::{GEOMETRIC_MEAN, mean_without};
/// assert_eq!(mean_without(&["one", "other"]), "geometric-mean-without-one,other");
/// assert!(mean_without(&["one"]).starts_with(GEOMETRIC_MEAN));
/// ```
pub fn mean_without(rows: &[&str]) -> String {
    format!("{GEOMETRIC_MEAN}-without-{}", rows.join(","))
}

/// Whose results, and against whom.
#[derive(Clone, Copy, Debug)]
pub struct Against<'a> {
    /// The arms, in the order of the report.
    pub arms: &'a [&'a str],
    /// The arm that the others are compared with.
    pub baseline: &'a str,
    /// An arm that has results, but is compared with nobody.
    pub apart: Option<&'a str>,
    /// The smallest difference that matters, 0.01 for ±1 %.
    pub threshold: f64,
}

impl View {
    /// One metric of several workloads, with results, ratios and their mean.
    pub fn new<'a>(
        suite: &str,
        workloads: impl IntoIterator<Item = &'a str>,
        metric: &Metric,
    ) -> Self {
        let row = |w: &str| (w.to_owned(), w.to_owned(), metric.clone());
        Self {
            suite: suite.into(),
            rows: workloads.into_iter().map(row).collect(),
            results: true,
            ratios: Ratios::RowsAndMean,
        }
    }

    /// The mean is also given without these rows, if they and others ran.
    pub fn with_extremes(self, rows: &[&str]) -> Self {
        Self { ratios: Ratios::RowsAndMeans(rows.iter().map(|&row| row.into()).collect()), ..self }
    }

    /// The comparisons of peak memory: how many times leaner an arm is. The peaks themselves are
    /// beside the times, in `peak_rss_kib`.
    pub fn peaks<'a>(suite: &str, workloads: impl IntoIterator<Item = &'a str>) -> Self {
        Self { results: false, ..Self::new(&Self::peak_suite(suite), workloads, &metric::PEAK) }
    }

    /// The suite of those comparisons.
    pub fn peak_suite(suite: &str) -> String {
        format!("{suite}-peak")
    }

    /// Adds the results and comparisons to a report that has the observations.
    pub(crate) fn show(&self, report: &mut Report, against: Against) {
        if self.results {
            for row in &self.rows {
                let results = against.arms.iter().filter_map(|arm| self.result(report, row, arm));
                let results: Vec<ResultRow> = results.collect();
                report.results.extend(results);
            }
        }
        if self.ratios == Ratios::None {
            return;
        }
        let others = against.arms.iter();
        for arm in others.filter(|a| **a != against.baseline && Some(**a) != against.apart) {
            let comparisons = self.comparisons(report, arm, against);
            report.comparisons.extend(comparisons);
        }
    }

    fn result(
        &self,
        report: &Report,
        (name, workload, metric): &(String, String, Metric),
        arm: &str,
    ) -> Option<ResultRow> {
        let costs = finished(report, workload, arm, metric)?;
        let peaks = values(&report.observations, workload, arm, &metric::PEAK);
        let beside = [metric::TIME, metric::WALL, metric::RUN].contains(metric);
        Some(ResultRow {
            suite: self.suite.clone(),
            workload: name.clone(),
            subject: arm.into(),
            unit: metric.unit.clone().into_owned(),
            summary: stats::summary(&costs),
            peak_rss_kib: (beside && !peaks.is_empty())
                .then(|| stats::median(&peaks).round() as u64),
        })
    }

    /// The comparisons of one arm. Their mean covers the rows that have the baseline; it is omitted
    /// if the arm lost one of them, because a mean over fewer rows would flatter it.
    fn comparisons(&self, report: &Report, arm: &str, against: Against) -> Vec<Comparison> {
        let threshold = against.threshold;
        let comparison = |row, base, ratio| Comparison::new(&self.suite, row, arm, base, ratio);
        let (mut found, mut logs, mut lost) = (Vec::new(), Vec::new(), false);
        for (name, workload, metric) in &self.rows {
            let Some(base) = baseline_of(report, workload, against).filter(|b| *b != arm) else {
                continue;
            };
            if finished(report, workload, base, metric).is_none() {
                continue;
            }
            if finished(report, workload, arm, metric).is_none() {
                lost |= base == against.baseline;
                continue;
            }
            let (costs, own) = pairs(&report.observations, workload, [base, arm], metric);
            found.push(comparison(name, base, stats::compare(&costs, &own, threshold)));
            if base == against.baseline {
                logs.push((name.as_str(), stats::log_ratios(&costs, &own)));
            }
        }
        let without: &[String] = match &self.ratios {
            Ratios::RowsAndMeans(rows) => rows,
            Ratios::RowsAndMean => &[],
            Ratios::Mean => {
                found.clear();
                &[]
            }
            Ratios::None | Ratios::Rows => return found,
        };
        let mean = |left_out: &[&str]| {
            let rows = logs.iter().filter(|(name, _)| !left_out.contains(name));
            let rows: Vec<Vec<f64>> = rows.map(|(_, logs)| logs.clone()).collect();
            (rows.len() > 1 && !lost).then(|| stats::geometric(&rows, threshold))
        };
        if let Some(ratio) = mean(&[]) {
            found.push(comparison(GEOMETRIC_MEAN, against.baseline, ratio));
        }
        let without = without.iter().map(String::as_str);
        let without: Vec<&str> =
            without.filter(|row| logs.iter().any(|(name, _)| name == row)).collect();
        if let Some(ratio) = mean(&without).filter(|_| !without.is_empty()) {
            found.push(comparison(&mean_without(&without), against.baseline, ratio));
        }
        found
    }
}

/// The arm with which a workload's others are compared: the first that took part, if the baseline
/// cannot do the workload.
fn baseline_of<'a>(report: &Report, workload: &str, against: Against<'a>) -> Option<&'a str> {
    let took_part = |arm: &&str| {
        report.observations.iter().any(|o| o.workload == workload && o.arm == *arm)
            || report.failures.iter().any(|f| f.workload == workload && f.subject == *arm)
    };
    std::iter::once(against.baseline).chain(against.arms.iter().copied()).find(took_part)
}

/// The values of an arm in a workload it has not failed in; nothing when there are none.
fn finished(report: &Report, workload: &str, arm: &str, metric: &Metric) -> Option<Vec<f64>> {
    let failed = report.failures.iter().any(|f| f.workload == workload && f.subject == arm);
    let values = values(&report.observations, workload, arm, metric);
    (!failed && !values.is_empty()).then_some(values)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::driver::Seen;
    use crate::model::{Failure, Observation};

    const ALL: Against =
        Against { arms: &["base", "fast"], baseline: "base", apart: None, threshold: 0.01 };

    /// A report with six equal values of each workload, arm and metric.
    pub(crate) fn report(of: &[(&str, &str, &Metric, f64)]) -> Report {
        let seen =
            |&(workload, arm, metric, value): &(&str, &str, &Metric, f64), round| Observation {
                round,
                position: 0,
                suite: "heap".into(),
                workload: workload.into(),
                arm: arm.into(),
                metric: metric.clone(),
                value,
                counts: true,
                disturbed: false,
            };
        let observations = of.iter().flat_map(|o| (1..=6).map(|round| seen(o, round)));
        Report::of(Seen { observations: observations.collect(), ..Seen::default() }, 1)
    }

    /// Adds the failure of an arm.
    pub(crate) fn fail(report: &mut Report, workload: &str, arm: &str, reason: &str) {
        report.failures.push(Failure {
            suite: "heap".into(),
            workload: workload.into(),
            subject: arm.into(),
            reason: reason.into(),
        });
    }

    fn sample() -> Report {
        report(&[
            ("a", "base", &metric::TIME, 4.0),
            ("a", "fast", &metric::TIME, 4.0),
            ("b", "base", &metric::TIME, 4.0),
            ("b", "fast", &metric::TIME, 1.0),
            ("a", "base", &metric::PEAK, 3000.0),
            ("a", "fast", &metric::PEAK, 2000.0),
        ])
    }

    fn close(ratio: f64, to: f64) -> bool {
        (ratio - to).abs() < 1e-9
    }

    #[test]
    fn geometric_mean_stands_beside_the_rows() {
        let mut report = sample();
        View::new("heap", ["a", "b"], &metric::TIME).add_to(&mut report, ALL);
        let ratio = |row| report.comparison("heap", row, "fast").unwrap().ratio;
        assert!(close(ratio(GEOMETRIC_MEAN), 2.0) && close(ratio("b"), 4.0));
        assert_eq!(report.results.len(), 4);
        assert_eq!(report.rounds(), 6);
    }

    #[test]
    fn the_mean_is_given_with_and_without_extreme_rows() {
        let times = [("a", 2.0), ("b", 2.0), ("far", 64.0)];
        let time = metric::TIME;
        let both =
            times.map(|(row, ratio)| [(row, "base", &time, ratio), (row, "fast", &time, 1.0)]);
        let mut report = report(&both.concat());
        let view = |rows: &'static [&'static str]| {
            View::new("heap", ["a", "b", "far"], &metric::TIME).with_extremes(rows)
        };
        view(&["far", "not run"]).add_to(&mut report, ALL);
        let ratio = |row: &str| report.comparison("heap", row, "fast").map(|c| c.ratio);
        assert!(close(ratio(GEOMETRIC_MEAN).unwrap(), 256f64.cbrt()));
        assert!(close(ratio(&mean_without(&["far"])).unwrap(), 2.0));
        report.comparisons.clear();
        view(&["not run"]).add_to(&mut report, ALL);
        assert_eq!(report.comparisons.len(), 4, "{:?}", report.comparisons);
    }

    #[test]
    fn a_mean_can_stand_without_its_rows() {
        let mut report = sample();
        let view = View::new("heap", ["a", "b"], &metric::TIME);
        View { results: false, ratios: Ratios::Mean, ..view }.add_to(&mut report, ALL);
        let rows: Vec<&str> = report.comparisons.iter().map(|c| c.workload.as_str()).collect();
        assert_eq!((rows, report.results.len()), (vec![GEOMETRIC_MEAN], 0));
    }

    #[test]
    fn peak_memory_is_compared_beside_time() {
        let mut report = sample();
        View::new("heap", ["a", "b"], &metric::TIME).add_to(&mut report, ALL);
        View::peaks("heap", ["a", "b"]).add_to(&mut report, ALL);
        assert!(close(report.comparison("heap-peak", "a", "fast").unwrap().ratio, 1.5));
        assert!(report.result("heap-peak", "a", "fast").is_none(), "it stands in peak_rss_kib");
        assert_eq!(report.result("heap", "a", "fast").unwrap().peak_rss_kib, Some(2000));
    }

    #[test]
    fn metrics_of_one_workload_can_be_rows_without_a_mean() {
        let mut report = sample();
        let view = View {
            suite: "both".into(),
            rows: vec![
                ("time".into(), "a".into(), metric::TIME),
                ("peak".into(), "a".into(), metric::PEAK),
            ],
            results: true,
            ratios: Ratios::Rows,
        };
        view.add_to(&mut report, ALL);
        assert!(close(report.comparison("both", "peak", "fast").unwrap().ratio, 1.5));
        assert!(report.comparison("both", GEOMETRIC_MEAN, "fast").is_none());
    }

    #[test]
    fn a_lost_row_costs_the_mean() {
        let mut report = sample();
        fail(&mut report, "b", "fast", "killed by signal 11");
        View::new("heap", ["a", "b"], &metric::TIME).add_to(&mut report, ALL);
        assert!(report.comparison("heap", GEOMETRIC_MEAN, "fast").is_none());
        assert!(report.comparison("heap", "a", "fast").is_some());
        assert!(report.result("heap", "b", "fast").is_none());
    }

    #[test]
    fn where_the_baseline_cannot_take_part_the_first_arm_stands_for_it() {
        let times = [
            ("a", "base", &metric::TIME, 4.0),
            ("a", "fast", &metric::TIME, 2.0),
            ("b", "fast", &metric::TIME, 2.0),
            ("b", "slow", &metric::TIME, 6.0),
        ];
        let mut report = report(&times);
        let against = Against { arms: &["base", "fast", "slow"], ..ALL };
        View::new("heap", ["a", "b"], &metric::TIME).add_to(&mut report, against);
        let slow = report.comparison("heap", "b", "slow").unwrap();
        assert_eq!(slow.baseline, "fast");
        assert!(close(slow.ratio, 1.0 / 3.0));
        assert_eq!(report.comparisons.len(), 2, "and no mean over different baselines");
        fail(&mut report, "a", "base", "crashed");
        report.comparisons.clear();
        View::new("heap", ["a"], &metric::TIME).add_to(&mut report, against);
        assert_eq!(report.comparisons, [], "a baseline that failed is not replaced");
    }

    #[test]
    fn an_arm_that_stands_apart_has_results_only() {
        let mut report = sample();
        let against = Against { apart: Some("fast"), ..ALL };
        View::new("heap", ["a", "b"], &metric::TIME).add_to(&mut report, against);
        assert_eq!((report.results.len(), report.comparisons.len()), (4, 0));
    }
}
