//! Geometric means over the rows of a suite.

use super::Mean;
use crate::report::suite::{Share, Suite};
use crate::stats;

/// How many times faster a subject is than another, over the rows that both finished.
pub(super) fn throughput<'a>(
    suite: &Suite<'a>,
    rows: &[&'a str],
    subject: &str,
    other: &str,
) -> Option<Mean> {
    if subject == other {
        let share = Share { ratio: 1.0, ci95: None };
        return Some(Mean { share, rows: rows.len() });
    }
    let ratio = |row: &'a str| Some(suite.ratio(row, subject, other)?.ratio);
    over(rows, ratio, |row| suite.logs(row, subject, other))
}

/// How many times leaner a subject is than another at the peak.
pub(super) fn leaner(suite: &Suite, subject: &str, other: &str) -> Option<Mean> {
    let logs = |row: &str| (subject != other).then(|| suite.peak_logs(row, subject, other))?;
    over(&suite.rows, |row| suite.leaner(row, subject, other), logs)
}

/// The mean over the rows that have a ratio. Its interval resamples rounds, and needs the observations of all
/// rows: the logarithms of their paired ratios.
fn over<'a>(
    rows: &[&'a str],
    ratio: impl Fn(&'a str) -> Option<f64>,
    logs: impl Fn(&'a str) -> Option<Vec<f64>>,
) -> Option<Mean> {
    let (rows, ratios): (Vec<&str>, Vec<f64>) =
        rows.iter().filter_map(|row| Some((*row, ratio(row)?))).unzip();
    let logs: Option<Vec<Vec<f64>>> = rows.iter().map(|row| logs(row)).collect();
    let ci95 = logs.map(|logs| stats::geometric(&logs, 0.0).ci95);
    let share = Share { ratio: stats::geometric_mean(&ratios), ci95 };
    (!ratios.is_empty()).then_some(Mean { share, rows: ratios.len() })
}
