//! The core of frames, without lifetimes: the common base of `allod-frame` and `allod/frame.h`.
//!
//! Rust programs use `allod-frame`. This crate needs no standard library, so that `liballod` can
//! contain it; its public items are for those two and change with them.
//!
//! Modules, the lowest first; each uses those before it: `error`, `shadow`, `hook` → `chunk`, `forks` →
//! `thread` → `raw`.
//!
//! | module | what it keeps |
//! | --- | --- |
//! | [`shadow`] | tells AddressSanitizer and memcheck about memory (features `asan`, `valgrind`) |
//! | [`chunk`] | an arena's chunks, and the slow path |
//! | `hook` | what happens when a thread ends |
//! | [`forks`] | locks that are free in a child process |
//! | [`thread`] | the arenas and the number of each thread |
//! | [`raw`] | the frame as C sees it |
#![no_std]

pub mod chunk;
mod error;
pub mod forks;
mod hook;
pub mod raw;
pub mod shadow;
pub mod thread;

pub use error::OutOfMemory;
