//! One suite of a report: its rows, its subjects, and how any two of them compare.

use crate::heap;
use crate::model::{Metric, Observation, Report, metric, pairs, values};
use crate::stats;
use crate::views::{GEOMETRIC_MEAN, Ratios, View};
use serde::Serialize;

/// The metric of a suite's rows in older reports, which do not say it, unless the suite's name does.
const PRIMARY: [Metric; 4] =
    [metric::TIME, metric::WALL, metric::EXECUTED_PER_OPERATION, metric::EXECUTED];

/// One suite of a report.
#[derive(Clone, Debug)]
pub struct Suite<'a> {
    /// The report.
    pub report: &'a Report,
    /// The suite's name.
    pub name: &'a str,
    /// The rows, in the order of the report, without means.
    pub rows: Vec<&'a str>,
    /// The compared subjects, including the reference, in the order of the report.
    pub subjects: Vec<&'a str>,
    /// The subject that most others are compared with.
    pub reference: &'a str,
}

/// How many times better one subject is than another; above 1 is better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The ratio.
    pub ratio: f64,
    /// Its 95 % interval, if the report has it or the observations.
    pub ci95: Option<[f64; 2]>,
}

impl<'a> Suite<'a> {
    /// The independent suites of a report: not those that show another aspect of the same workloads, such as
    /// `heap-latency` and `heap-peak`.
    pub fn all(report: &'a Report) -> Vec<Self> {
        let names = distinct(report.results.iter().map(|r| r.suite.as_str()));
        let is_view = |name: &str| {
            names
                .iter()
                .any(|other| name.strip_prefix(other).is_some_and(|rest| rest.starts_with('-')))
        };
        names
            .iter()
            .filter(|name| !is_view(name))
            .filter_map(|name| Self::of(report, name))
            .collect()
    }

    /// A suite by its name, if anything was compared in it.
    pub fn of(report: &'a Report, name: &'a str) -> Option<Self> {
        let compared = || report.comparisons.iter().filter(|c| c.suite == name);
        let reference = most_frequent(compared().map(|c| c.baseline.as_str()))?;
        let takes_part =
            |subject: &&str| compared().any(|c| c.subject == *subject || c.baseline == *subject);
        let results = || report.results.iter().filter(|r| r.suite == name);
        let subjects = distinct(results().map(|r| r.subject.as_str()));
        let rows = distinct(results().map(|r| r.workload.as_str()));
        (!rows.is_empty()).then_some(())?;
        Some(Self {
            report,
            name,
            rows,
            subjects: subjects.into_iter().filter(takes_part).collect(),
            reference,
        })
    }

    /// The extreme rows, without which means are also given: they would dominate all others.
    pub fn extremes(&self) -> Vec<&'a str> {
        let view = self.report.views.iter().map(|shown| &shown.view).find(|v| v.suite == self.name);
        let is_extreme = |row: &&&str| match view.map(|v| &v.ratios) {
            Some(Ratios::RowsAndMeans(rows)) => rows.iter().any(|extreme| extreme == **row),
            Some(_) => false,
            // Older reports do not say.
            None => self.name == heap::SUITE && heap::EXTREMES.contains(row),
        };
        self.rows.iter().filter(is_extreme).copied().collect()
    }

    /// What the numbers of a row count, such as `ns/op`.
    pub fn unit(&self, row: &str) -> &'a str {
        let mut results = self.report.results.iter();
        let found = results.find(|r| r.suite == self.name && r.workload == row);
        found.map_or("", |r| r.unit.as_str())
    }

    /// The median of a subject in a row, if it finished.
    pub fn median(&self, row: &str, subject: &str) -> Option<f64> {
        Some(self.report.result(self.name, row, subject)?.summary.median)
    }

    /// The workload and the metric behind a row, if the report has its observations.
    ///
    /// Usually a row is a workload; latency quantiles are metrics of one workload.
    pub fn source(&self, row: &'a str) -> Option<(&'a str, &'a Metric)> {
        let views = self.report.views.iter().map(|shown| &shown.view);
        let shown = views.filter(|v| v.suite == self.name).flat_map(|v| &v.rows);
        if let Some((_, workload, metric)) = shown.into_iter().find(|(name, ..)| name == row) {
            let observed = |o: &Observation| o.workload == *workload && o.metric == *metric;
            return self.report.observations.iter().any(observed).then_some((workload, metric));
        }
        let unit = self.unit(row);
        let candidates = || {
            self.report.observations.iter().filter(|o| {
                let same_suite = self.name.starts_with(o.suite.as_str());
                o.counts && o.metric.unit == unit && same_suite
            })
        };
        let by_name = |name: &str| {
            candidates().find(|o| o.workload == row && o.metric.name == name).map(|o| &o.metric)
        };
        let of_view = self.name.rsplit_once('-').and_then(|(_, name)| by_name(name));
        of_view
            .or_else(|| PRIMARY.iter().find_map(|metric| by_name(&metric.name)))
            .map(|metric| (row, metric))
            .or_else(|| {
                let quantile = candidates().find(|o| o.metric.name == row)?;
                Some((quantile.workload.as_str(), &quantile.metric))
            })
    }

    /// Every value of a subject in a row that counts.
    pub fn values(&self, row: &'a str, subject: &str) -> Vec<f64> {
        let source = self.source(row).filter(|_| self.median(row, subject).is_some());
        source.map_or_else(Vec::new, |(workload, metric)| {
            values(&self.report.observations, workload, subject, metric)
        })
    }

    /// How many times better `subject` is than `other` in a row; `None` if one of them did not
    /// finish.
    pub fn ratio(&self, row: &'a str, subject: &str, other: &str) -> Option<Share> {
        ratio(self.report, self.name, row, [subject, other])
            .or_else(|| self.paired(row, subject, other))
            .or_else(|| {
                let ratio = self.median(row, other)? / self.median(row, subject)?;
                Some(Share { ratio, ci95: None })
            })
    }

    /// How many times leaner `subject` is than `other` at the peak of a row.
    pub fn leaner(&self, row: &str, subject: &str, other: &str) -> Option<f64> {
        let peak = |s| Some(self.report.result(self.name, row, s)?.peak_rss_kib? as f64);
        let peaks = View::peak_suite(self.name);
        ratio(self.report, &peaks, row, [subject, other])
            .map(|share| share.ratio)
            .or_else(|| Some(peak(other)? / peak(subject)?))
            .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
    }

    /// Logarithms of the paired ratios of a row; empty without observations.
    pub fn logs(&self, row: &'a str, subject: &str, other: &str) -> Option<Vec<f64>> {
        self.median(row, subject).and(self.median(row, other))?;
        let (workload, metric) = self.source(row)?;
        let (base, own) = pairs(&self.report.observations, workload, [other, subject], metric);
        (!base.is_empty()).then(|| stats::log_ratios(&base, &own))
    }

    /// The same of peak memory.
    pub fn peak_logs(&self, row: &str, subject: &str, other: &str) -> Option<Vec<f64>> {
        let all = &self.report.observations;
        let (base, own) = pairs(all, row, [other, subject], &metric::PEAK);
        (!base.is_empty()).then(|| stats::log_ratios(&base, &own))
    }

    fn paired(&self, row: &'a str, subject: &str, other: &str) -> Option<Share> {
        let logs = self.logs(row, subject, other)?;
        let ratio = stats::median(&logs).exp();
        Some(Share { ratio, ci95: Some(stats::exact::median_interval(&logs).map(f64::exp)) })
    }
}

/// The ratio that the report itself has, in either direction.
fn ratio(report: &Report, suite: &str, row: &str, [subject, other]: [&str; 2]) -> Option<Share> {
    let given = |subject, other: &str| {
        report.comparison(suite, row, subject).filter(|c| c.baseline == other)
    };
    if subject == other {
        return None;
    }
    let there = given(subject, other).map(|c| Share { ratio: c.ratio, ci95: Some(c.ci95) });
    there.or_else(|| {
        let back = given(other, subject)?;
        let [low, high] = back.ci95;
        Some(Share { ratio: 1.0 / back.ratio, ci95: Some([1.0 / high, 1.0 / low]) })
    })
}

/// The names in order, each once, without that of the mean.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for name in names {
        if name != GEOMETRIC_MEAN && !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

fn most_frequent<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let names: Vec<&str> = names.collect();
    let count = |name: &str| names.iter().filter(|n| **n == name).count();
    // The first of those that occur equally often.
    names.iter().copied().rev().max_by_key(|name| count(name))
}
