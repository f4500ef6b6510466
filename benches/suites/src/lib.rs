//! The suites of `allod bench frame` and `allod bench region`: what frames and regions cost beside their
//! peers.
//!
//! Both are made of functions, measured by [`allod_lab::inprocess`]. They stand apart from the
//! laboratory, which anybody may use without them.

mod arenas;
pub mod components;
pub mod frame;
pub mod region;
mod request;
mod required;
mod rows;

pub use request::Request;
pub use rows::{is_row, rows};
