//! A quantity along a run.

use super::Metric;
use serde::{Deserialize, Serialize};

/// How a metric changed while a workload ran, such as memory over time.
///
/// It comes from a run of its own, whose time does not count: whoever samples disturbs.
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
    /// What the points lie along, such as `calls`.
    pub along: String,
    /// How far the run was, and the value there.
    pub points: Vec<[f64; 2]>,
}
