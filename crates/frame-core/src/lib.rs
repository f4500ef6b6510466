//! What frames are made of, without lifetimes: the common ground of `allod-frame` and `allod/frame.h`.
//!
//! Rust programs use `allod-frame`. This crate needs no standard library, so that `liballod` can hold
//! it; what is public here is for those two and changes with them.
//!
//! | module | what it keeps |
//! | --- | --- |
//! | [`chunk`] | an arena's chunks, and the slow path |
//! | [`thread`] | the arenas and the number of each thread |
//! | [`raw`] | the frame as C sees it |
#![no_std]

pub mod chunk;
mod error;
pub mod raw;
pub mod thread;

pub use error::OutOfMemory;
