//! The statistics of the laboratory: summaries, paired ratios with intervals, verdicts.
//!
//! Arms are measured in rounds, one observation per arm and round, so anything that disturbs the
//! machine for a while disturbs all of them. A **paired ratio** divides the baseline's cost by the
//! arm's cost *of the same round*; the reported ratio is the median over the rounds, on the
//! logarithmic scale, where twice as fast and half as fast are equally far from 1. Above 1 is better.
//!
//! - [`summary`]: the summary of a list of numbers;
//! - [`exact`]: the interval of a median, which holds for any distribution;
//! - [`bootstrap`]: intervals of statistics over several rows, such as a geometric mean;
//! - [`compare`], [`compare_apart`], [`geometric`]: ratios with their intervals;
//! - [`change()`], [`geometric_change`]: how much a ratio differs from that of another run;
//! - [`Verdict`]: what follows from an interval and a threshold.

pub mod bootstrap;
mod change;
pub mod exact;
mod ratio;
#[cfg(test)]
pub(crate) mod simulated;
mod summary;
mod verdict;

pub use change::{change, change_interval, geometric_change};
pub use exact::FEWEST;
pub use ratio::{Ratio, compare, compare_apart, geometric, log_ratios};
pub(crate) use summary::median_in_place;
pub use summary::{Summary, geometric_mean, mean, median, stddev, summary};
pub use verdict::Verdict;
