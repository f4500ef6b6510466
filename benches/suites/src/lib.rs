//! The suites of `allod bench frame`, `region` and `scheme`: what frames, regions and the Scheme compiler cost
//! beside their peers.
//!
//! The first two consist of functions, measured by [`allod_lab::inprocess`]; the last consists of programs.
//! They are separate from the laboratory, which can be used without them.

mod arenas;
pub mod components;
pub mod frame;
pub mod region;
mod request;
mod required;
mod rows;
pub mod scheme;
mod versions;

pub use request::Request;
pub use rows::{is_row, rows};
