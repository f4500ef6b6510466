//! Whether something became worse since an earlier run: `--against`, for continuous integration.
//!
//! Nothing is compared by raw time across runs. What is compared is each subject's ratio to another subject
//! that both runs interleaved with it, round by round; see [`change`](mod@crate::stats). The subjects that are
//! judged are Allod's own; where none takes part, all but the baseline.
//!
//! - A row whose interval reaches no further down than the threshold is **fine**, whatever else it says.
//! - A row is a **regression** when its verdict is NO-GO and stays below 1 at the confidence that many rows
//!   call for: of unchanged code at most 5 in 100 gates find one. So is a mean that is NO-GO, and a row that
//!   the subject can no longer do.
//! - Everything else is **undecided**.

mod alike;
mod page;
mod pair;
mod reference;
#[cfg(test)]
mod tests;

pub use page::page;
pub use reference::{Reference, Sought};

use crate::model::Report;
use crate::stats::Ratio;
use pair::Pair;

/// What follows from a row, or from all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// A loss beyond the threshold can be ruled out.
    Fine,
    /// Neither can be said.
    Undecided,
    /// It became worse.
    Regression,
}

/// A row of a suite in both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The suite.
    pub suite: String,
    /// The row; `geometric-mean` for the mean over a suite's rows.
    pub row: String,
    /// Whose.
    pub subject: String,
    /// What it is compared with in both runs; for a mean, the baseline.
    pub baseline: String,
    /// The ratios to that, then and now.
    pub ratios: [f64; 2],
    /// How many times better than then.
    pub change: Ratio,
    /// What follows.
    pub finding: Finding,
    /// Why, where the numbers do not say it.
    pub why: Option<String>,
}

/// What came of a comparison with an earlier run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gate {
    /// The rows that both runs have, and the means.
    pub rows: Vec<Row>,
    /// Why nothing can be decided, whatever the rows say.
    pub obstacles: Vec<String>,
    /// What differs, and may be why.
    pub differences: Vec<String>,
}

impl Gate {
    /// Judges a report against an earlier one; `threshold` is the smallest loss that counts.
    pub fn judge(then: &Report, now: &Report, threshold: f64) -> Self {
        let pairs = now.views.iter().map(|shown| Pair::of(shown, then, now));
        let suites: Vec<Pair> = pairs.filter(Pair::is_judged).collect();
        let all: usize = suites.iter().map(Pair::count).sum();
        let mut gate = Self {
            rows: suites.iter().flat_map(|pair| pair.judge(threshold, all)).collect(),
            obstacles: alike::obstacles(then, now, suites.iter().all(Pair::is_exact)),
            differences: alike::differences(then, now),
        };
        if gate.rows.is_empty() {
            gate.obstacles.push("the two runs have no row in common".into());
        }
        gate
    }

    /// What follows from all rows: the worst of them; nothing where the runs are not alike.
    pub fn finding(&self) -> Finding {
        let worst = self.rows.iter().map(|row| row.finding).max();
        match worst {
            Some(finding) if self.obstacles.is_empty() => finding,
            _ => Finding::Undecided,
        }
    }
}
