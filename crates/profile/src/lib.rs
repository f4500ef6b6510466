//! Heap profiles, read: who holds the memory, by name.
//!
//! A profile in pprof's format holds addresses. This crate finds the functions they lie in, inlined ones too, and
//! shows the calls as a tree of text, a flame graph (SVG), or one page of HTML with both.
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
