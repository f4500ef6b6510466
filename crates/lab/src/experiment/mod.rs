//! Experiments: factors that are off or on, every combination measured.

mod result;

pub use result::{
    Additivity, Advice, Effect, Experiment, FactorRow, Matrix, Measured, PointRow, Sum,
};
