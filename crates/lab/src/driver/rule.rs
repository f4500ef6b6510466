//! When a workload has been measured often enough.

use crate::stats::FEWEST;
use std::time::Duration;

/// When to stop.
///
/// The rule looks at how well the ratios are known, never at the ratios themselves: stopping as soon
/// as a difference looks significant finds one sooner or later where there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The fewest rounds that count.
    pub least: usize,
    /// The most rounds that count.
    pub most: usize,
    /// Stop when every ratio is known to ± this, 0.005 for ±0.5 %.
    pub precision: Option<f64>,
    /// Stop when the whole measurement has taken this long.
    pub max_time: Option<Duration>,
}

impl Rule {
    /// A fixed number of rounds.
    ///
    /// ```
    /// use allod_lab::driver::Rule;
    /// let rule = Rule::rounds(10);
    /// assert!(!rule.enough(9, 0.0) && rule.enough(10, 1.0));
    /// ```
    pub fn rounds(n: usize) -> Self {
        Self { least: n, most: n, precision: None, max_time: None }
    }

    /// As many rounds as it takes, at least six and at most `most`.
    ///
    /// ```
    /// use allod_lab::driver::Rule;
    /// let rule = Rule::until(0.005, 100);
    /// assert!(!rule.enough(5, 0.001) && rule.enough(6, 0.001));
    /// assert!(!rule.enough(99, 0.02) && rule.enough(100, 0.02));
    /// ```
    pub fn until(precision: f64, most: usize) -> Self {
        Self { least: FEWEST.min(most), most, precision: Some(precision), max_time: None }
    }

    /// The same rule, with no more than `most` rounds.
    pub(super) fn at_most(self, most: usize) -> Self {
        Self { least: self.least.min(most), most: self.most.min(most), ..self }
    }

    /// Whether `rounds` rounds are enough, when the worst known ratio is known to `±width`.
    pub fn enough(&self, rounds: usize, width: f64) -> bool {
        rounds >= self.most
            || rounds >= self.least && self.precision.is_none_or(|wanted| width <= wanted)
    }
}
