//! The laboratory's terms: what is measured ([`Arm`]), what is done ([`Workload`]), what was seen
//! ([`Observation`]), and what is told of it ([`Report`]).

mod arm;
pub mod metric;
mod observation;
mod report;
mod series;
mod workload;

pub use arm::Arm;
pub use metric::Metric;
pub use observation::{Observation, pairs, values};
pub use report::{Comparison, Failure, Provenance, Report, ResultRow};
pub use series::Series;
pub use workload::{Outcome, Turn, Work, Workload};
