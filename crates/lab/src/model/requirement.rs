//! Requirements on a suite.

use crate::stats::Ratio;
use serde::{Deserialize, Serialize};

/// A requirement and its result: something must be `wanted` times faster than something else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// The suite of its rows.
    pub suite: String,
    /// What must be faster than what.
    pub name: String,
    /// How many times faster, at least.
    pub wanted: f64,
    /// How many times faster it is. The verdict is against what is wanted: GO exceeds it, EQUIVALENT meets it,
    /// NO-GO misses it.
    #[serde(flatten)]
    pub measured: Ratio,
}
