//! Which results are computed from observations, and compared with whom.

use super::Metric;
use serde::{Deserialize, Serialize};

/// Which comparisons a view has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ratios {
    /// Nothing.
    None,
    /// Every row against the baseline.
    Rows,
    /// The geometric mean of the rows against the baseline: for rows that another view shows.
    Mean,
    /// Every row against the baseline, and their geometric mean.
    RowsAndMean,
    /// The same, and the mean without these rows, whose extreme ratios would dominate the mean.
    RowsAndMeans(Vec<String>),
}

impl Ratios {
    /// Whether there is a geometric mean over all rows.
    pub fn have_mean(&self) -> bool {
        matches!(self, Self::RowsAndMean | Self::RowsAndMeans(_))
    }
}

/// A suite of results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// The suite's name.
    pub suite: String,
    /// The rows: name, workload, and metric.
    pub rows: Vec<(String, String, Metric)>,
    /// Whether there are results, or only comparisons.
    pub results: bool,
    /// Which comparisons there are.
    pub ratios: Ratios,
}

/// A view, with its arms and its baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// The suite of the observations; the view's own suite names its results.
    pub of: String,
    /// The rows and their metrics.
    #[serde(flatten)]
    pub view: View,
    /// The arms, in the order of the results.
    pub arms: Vec<String>,
    /// The arm that the others are compared with.
    pub baseline: String,
    /// An arm that is compared with nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<String>,
    /// The smallest difference that matters.
    pub threshold: f64,
}
