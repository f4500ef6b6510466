//! Milestones, and whether they are reached.
//!
//! | milestone | reached when |
//! | --- | --- |
//! | each peer passed | the geometric mean of our ratios to that subject is at least 1 |
//! | the published allocator, and its own milestone | `random-mixed` runs at 44.46 %, at 55 % of mimalloc's speed |
//! | the best others together | the geometric mean against the best other subject of each row is at least 1 |
//! | the best of every row | no other subject is faster in any row |
//! | as lean as the reference | the geometric mean of peak memory is no greater |

use super::means::{leaner, throughput};
use super::{AgainstBest, Mean};
use crate::report::suite::{Share, Suite};
use crate::stats;
use crate::table::counted;
use serde::Serialize;

/// The workload of the published figures, and shares of mimalloc's throughput in it.
const PUBLISHED_ROW: (&str, &str) = ("heap", "random-mixed");
const PUBLISHED: [(&str, f64); 2] = [
    ("44.46 % of mimalloc in random-mixed, as the published allocator", 0.4446),
    ("55 % of mimalloc in random-mixed, that allocator's milestone", 0.55),
];

/// A milestone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Milestone {
    /// Its name.
    pub what: String,
    /// The least ratio that reaches it.
    pub wanted: f64,
    /// The measured ratio.
    #[serde(flatten)]
    pub measured: Share,
    /// Whether it is reached.
    pub reached: Reached,
}

/// Whether a milestone is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reached {
    /// The whole interval, or without one the number, is at least what is wanted.
    Yes,
    /// The whole interval is below it.
    No,
    /// What is wanted is within the interval.
    Open,
}

impl Reached {
    /// Judges a ratio.
    ///
    /// ```
    /// use allod_lab::report::{Reached, Share};
    /// let open = Share { ratio: 1.02, ci95: Some([0.99, 1.05]) };
    /// assert_eq!(Reached::of(open, 1.0), Reached::Open);
    /// assert_eq!(Reached::of(Share { ci95: None, ..open }, 1.0), Reached::Yes);
    /// ```
    pub fn of(measured: Share, wanted: f64) -> Self {
        let [low, high] = measured.ci95.unwrap_or([measured.ratio; 2]);
        if low >= wanted {
            Self::Yes
        } else if high < wanted {
            Self::No
        } else {
            Self::Open
        }
    }

    /// The words that reports print.
    pub fn words(self) -> &'static str {
        match self {
            Self::Yes => "reached",
            Self::No => "not reached",
            Self::Open => "open",
        }
    }
}

impl Milestone {
    fn new(what: impl Into<String>, wanted: f64, measured: Share) -> Self {
        Self { what: what.into(), wanted, measured, reached: Reached::of(measured, wanted) }
    }
}

/// All milestones that apply to a suite.
pub(super) fn all(suite: &Suite, ours: &str, against_best: &[AgainstBest]) -> Vec<Milestone> {
    let mut all = peers(suite, ours);
    all.extend(published(suite, ours));
    all.extend(the_best(suite, against_best));
    if ours != suite.reference {
        let lean = leaner(suite, ours, suite.reference).map(|Mean { share, .. }| {
            Milestone::new(format!("as lean as {} at the peak", suite.reference), 1.0, share)
        });
        all.extend(lean);
    }
    all
}

fn peers(suite: &Suite, ours: &str) -> Vec<Milestone> {
    let others = suite.subjects.iter().filter(|s| **s != ours);
    let passed = others.filter_map(|other| {
        let mean = throughput(suite, &suite.rows, ours, other)?;
        let what = match mean.rows {
            rows if rows == suite.rows.len() => format!("{other} passed"),
            rows => format!("{other} passed, in the {} that it has", counted(rows, "row")),
        };
        Some(Milestone::new(what, 1.0, mean.share))
    });
    passed.collect()
}

/// Against the best other of each row, which differs from row to row: no single allocator is that good.
fn the_best(suite: &Suite, rows: &[AgainstBest]) -> Vec<Milestone> {
    let mean = |rows: &mut dyn Iterator<Item = &AgainstBest>| {
        let ratios: Vec<f64> = rows.map(|row| row.share.ratio).collect();
        Share { ratio: stats::geometric_mean(&ratios), ci95: None }
    };
    let Some(worst) = rows.first() else { return Vec::new() };
    let what = "as fast on average as the best other of each row";
    let mut all = vec![Milestone::new(what, 1.0, mean(&mut rows.iter()))];
    let extremes = suite.extremes();
    let mut typical = rows.iter().filter(|row| !extremes.contains(&row.row.as_str())).peekable();
    if typical.peek().is_some() && !extremes.is_empty() {
        all.push(Milestone::new(format!("{what} without extremes"), 1.0, mean(&mut typical)));
    }
    let what = format!("the best of every row (most behind: {})", worst.row);
    all.push(Milestone::new(what, 1.0, worst.share));
    all
}

fn published(suite: &Suite, ours: &str) -> Vec<Milestone> {
    let (name, row) = PUBLISHED_ROW;
    let is_mimalloc = |s: &&&str| s.starts_with("mimalloc");
    let reference = std::iter::once(&suite.reference).chain(&suite.subjects).find(is_mimalloc);
    let row = suite.rows.iter().find(|r| **r == row).filter(|_| suite.name == name);
    let share = reference.zip(row).and_then(|(reference, row)| suite.ratio(row, ours, reference));
    let milestone = |share| PUBLISHED.map(|(what, wanted)| Milestone::new(what, wanted, share));
    share.map_or_else(Vec::new, |share| milestone(share).into())
}
