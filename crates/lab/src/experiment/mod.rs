//! Experiments: factors that are off or on, every combination measured.

mod advice;
mod effects;
mod matrix;
mod point;
mod result;
mod surface;

pub use advice::advise;
pub use effects::{Measurement, Rounds};
pub use matrix::{matrices, matrix};
pub use point::{NONE, Points};
pub use result::{
    Additivity, Advice, Effect, Experiment, FactorRow, Matrix, Measured, PointRow, Sum,
};
pub use surface::Surface;
