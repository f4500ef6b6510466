//! A quantity over the course of a run.

use super::Metric;
use serde::{Deserialize, Serialize};

/// How a metric changed while a workload ran, such as memory over time.
///
/// It comes from a separate run, whose time does not count, because sampling disturbs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The group of workloads, such as `replay`.
    pub suite: String,
    /// The workload's name.
    pub workload: String,
    /// The arm's name.
    pub arm: String,
    /// What was measured, and its unit.
    #[serde(flatten)]
    pub metric: Metric,
    /// The unit of progress, such as `calls`.
    pub along: String,
    /// Progress, and the value there.
    pub points: Vec<[f64; 2]>,
}
