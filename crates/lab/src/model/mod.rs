//! The laboratory's terms: what is measured ([`Arm`]), what it does ([`Workload`]), the raw
//! values ([`Observation`]), and the results ([`Report`]).

mod arm;
mod join;
pub mod metric;
pub(crate) mod number;
mod observation;
mod provenance;
mod report;
mod requirement;
mod series;
mod view;
mod workload;

pub use arm::Arm;
pub use metric::Metric;
pub use observation::{Observation, pairs, values};
pub use provenance::{ArmRecord, Provenance};
pub use report::{Comparison, Failure, Part, Report, ResultRow};
pub use requirement::Requirement;
pub use series::Series;
pub use view::{Ratios, Shown, View};
pub use workload::{Outcome, Turn, Work, Workload};
