//! The safe face: values that cannot outlive their region.
//!
//! May use: all layers below. Invariant: a [`Value`](crate::Value) is alive for its lifetime, and stays on
//! its thread unless its region is frozen; every function that takes values applies the closure rule.
//!
//! | file | keeps |
//! | --- | --- |
//! | `sure` | panics of what can fail, and methods in both forms |
//! | `handle` | values |
//! | `region` | regions, and leaving them |
//! | `make` | constructors |
//! | `typed` | users' types |
//! | `share` | values beyond their scope and their thread |

pub mod handle;
pub mod make;
pub mod region;
pub mod share;
pub(crate) mod sure;
pub mod typed;
