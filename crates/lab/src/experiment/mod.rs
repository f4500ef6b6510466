//! Experiments: some factors, each off or on, every combination of them measured.
//!
//! ```text
//! Level      words: what is changed               "ALLOD_BAND_B4=0 features:allod-heap/knobs"
//! Factor     a name and two levels                "B4=ALLOD_BAND_B4=0|ALLOD_BAND_B4=1"
//! Design     factors, and what all points share   2ᵏ points
//! prepare    each point becomes an arm            commits and features are built (crate::builds)
//! run        one plan for the driver              all points interleaved
//! Rounds     its observations, round by round     levelled, as logarithms
//! Surface    one number for each point            questions are asked of it: effects, steps, sums
//! Matrix     answers with intervals, and advice   what --json has, and the tables show
//! ```
//!
//! [`Measurement`] and [`Surface`] know nothing of programs: they can be used for costs from any
//! source.

mod advice;
mod design;
mod effects;
mod factor;
mod level;
mod matrix;
mod point;
mod result;
mod run;
mod settings;
mod shipped;
mod surface;
mod tables;

pub use advice::advise;
pub use design::{Design, Parts, Prepared};
pub use effects::{Measurement, Rounds};
pub use factor::{FACTORS, Factor};
pub use level::{Level, Library};
pub use matrix::{matrices, matrix};
pub use point::{NONE, Points};
pub use result::{
    Additivity, Advice, Effect, Experiment, FactorRow, Matrix, Measured, PointRow, Sum,
};
pub use run::{Request, SUITE, Work, run};
pub use shipped::{SHIPPED, Shipped, Variants};
pub use surface::Surface;
pub use tables::tables;
pub(crate) use tables::{effect_table, point_table, sum_table};
