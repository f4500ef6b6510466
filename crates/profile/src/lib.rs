//! Reading heap profiles: which functions hold the memory.
//!
//! A profile in pprof's format has addresses. This crate finds their functions, inlined ones too, and shows
//! the calls as a text tree, a flame graph (SVG), or an HTML page with both.
//!
//! ```text
//!  wire ──▶ format ──▶ symbols ──▶ stacks ──▶ tree ──▶ text
//!           (pprof)    (DWARF,       │          └────▶ page (HTML)
//!                       ELF)         └──▶ flame (SVG) ──┘
//! ```
//! Each file imports only files to its left.

mod amount;
mod flame;
mod format;
mod page;
mod stacks;
mod symbols;
mod text;
mod tree;
mod wire;

pub use flame::svg;
pub use format::{Profile, read};
pub use page::html;
pub use stacks::{Stacks, Value};
pub use text::text;
