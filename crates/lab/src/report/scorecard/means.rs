//! Geometric means over the rows of a suite.

use super::Mean;
use crate::report::suite::{Share, Suite};
use crate::stats;

/// How many times faster a subject is than another, over the rows that both finished. The interval
/// resamples rounds, and needs the observations.
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
    let ratios: Vec<(&str, Share)> =
        rows.iter().filter_map(|row| Some((*row, suite.ratio(row, subject, other)?))).collect();
    let logs: Option<Vec<Vec<f64>>> =
        ratios.iter().map(|(row, _)| suite.logs(row, subject, other)).collect();
    let plain = plain(ratios.iter().map(|(_, share)| share.ratio))?;
    let ci95 = logs.map(|logs| stats::geometric(&logs, 0.0).ci95);
    Some(Mean { share: Share { ci95, ..plain.share }, ..plain })
}

/// How many times leaner a subject is than another at the peak.
pub(super) fn leaner(suite: &Suite, subject: &str, other: &str) -> Option<Mean> {
    plain(suite.rows.iter().filter_map(|row| suite.leaner(row, subject, other)))
}

fn plain(ratios: impl Iterator<Item = f64>) -> Option<Mean> {
    let ratios: Vec<f64> = ratios.collect();
    let share = Share { ratio: stats::geometric_mean(&ratios), ci95: None };
    (!ratios.is_empty()).then_some(Mean { share, rows: ratios.len() })
}
