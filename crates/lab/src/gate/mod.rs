//! Whether something became worse since an earlier run: `--against`, for continuous integration. Raw times
//! are never compared across runs. What is compared is each subject's ratio to another subject that both runs
//! interleaved with it, round by round; see [`change`](mod@crate::stats). Allod's own subjects are judged; if
//! none takes part, all but the baseline.
//!
//! - A row whose interval does not reach below the threshold is **fine**, whatever its verdict.
//! - A row is a **regression** when its verdict is NO-GO and it stays below 1 at the confidence that the
//!   number of rows requires: with unchanged code, at most 5 gates in 100 find one. So is a mean that is
//!   NO-GO, and a row that the subject can no longer do.
//! - Everything else is **undecided**.

mod alike;
mod page;
mod pair;
mod reference;
#[cfg(test)]
mod tests;

pub use page::page;
pub use reference::{Reference, Sought};

use crate::model::{Report, number};
use crate::stats::Ratio;
use pair::Pair;
use serde::{Deserialize, Serialize};

/// The conclusion from a row, or from all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// A loss beyond the threshold can be ruled out.
    Fine,
    /// Neither of the others.
    #[default]
    Undecided,
    /// It became worse.
    Regression,
}

/// A row of a suite in both runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The suite.
    pub suite: String,
    /// The row; `geometric-mean` for the mean over a suite's rows.
    pub row: String,
    /// The subject.
    pub subject: String,
    /// What it is compared with in both runs; for a mean, the baseline.
    pub baseline: String,
    /// The ratios to that, then and now; NaN if lost.
    #[serde(deserialize_with = "number::two")]
    pub ratios: [f64; 2],
    /// How many times better it is now.
    #[serde(flatten)]
    pub change: Ratio,
    /// What follows.
    pub finding: Finding,
    /// Why, if the numbers alone do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The result of a comparison with an earlier run.
///
/// ```
/// use allod_lab::gate::{Finding, Gate};
/// let text = r#"{"against": "run 7", "threshold": 0.02, "finding": "fine", "rows": []}"#;
/// let gate: Gate = serde_json::from_str(text)?;
/// assert_eq!(gate.finding, Finding::Fine);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// What was compared with, for people.
    pub against: String,
    /// The smallest loss that matters.
    pub threshold: f64,
    /// The conclusion from all rows: the worst of them; undecided if the runs are not comparable.
    pub finding: Finding,
    /// The rows that both runs have, and the means.
    pub rows: Vec<Row>,
    /// Why nothing can be decided, regardless of the rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<String>,
    /// Differences that may explain a change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
}

impl Gate {
    /// Judges a report against an earlier run; `threshold` is the smallest loss that matters.
    pub fn judge(then: &Reference, now: &Report, threshold: f64) -> Self {
        let earlier = &then.report;
        let pairs = now.views.iter().map(|shown| Pair::of(shown, earlier, now));
        let suites: Vec<Pair> = pairs.filter(Pair::is_judged).collect();
        let all: usize = suites.iter().map(Pair::count).sum();
        let rows: Vec<Row> = suites.iter().flat_map(|pair| pair.judge(threshold, all)).collect();
        let mut obstacles = alike::obstacles(earlier, now, suites.iter().all(Pair::is_exact));
        if rows.is_empty() {
            obstacles.push("the two runs have no row in common".into());
        }
        let finding = match rows.iter().map(|row| row.finding).max() {
            Some(worst) if obstacles.is_empty() => worst,
            _ => Finding::Undecided,
        };
        Self {
            against: then.name.clone(),
            threshold,
            finding,
            rows,
            obstacles,
            differences: alike::differences(earlier, now),
        }
    }
}
