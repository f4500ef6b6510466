//! The terms of a measurement.

use super::{Rule, fresh_seed};

/// How often, in which order, against which threshold, and by which clock.
///
/// ```
/// use allod_lab::driver::{Rule, Terms};
/// let terms = Terms { threshold: 0.05, ..Terms::of(Rule::rounds(10)) };
/// assert!(!terms.counting);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// When a workload has been measured often enough.
    pub rule: Rule,
    /// The seed of the order of the arms.
    pub seed: u64,
    /// The smallest difference that matters, 0.01 for ±1 %.
    pub threshold: f64,
    /// Whether instructions are counted instead of time: once, since they are the same in every run.
    pub counting: bool,
}

impl Terms {
    /// Times by this rule, in a new random order, with a threshold of ±1 %.
    pub fn of(rule: Rule) -> Self {
        Self { rule, seed: fresh_seed(), threshold: 0.01, counting: false }
    }
}
