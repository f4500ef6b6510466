//! The core of frames, without lifetimes: the common base of `allod-frame` and `allod/frame.h`.
//!
//! Rust programs use `allod-frame`. This crate needs no standard library, so that `liballod` can hold
//! it; what is public here is for those two and changes with them.
//!
//! | module | what it keeps |
//! | --- | --- |
//! | [`chunk`] | an arena's chunks, and the slow path |
//! | [`thread`] | the arenas and the number of each thread |
//! | [`forks`] | locks that are free in a child process |
//! | `shadow` | requests to AddressSanitizer and memcheck (features `asan`, `valgrind`) |
//! | [`raw`] | the frame as C sees it |
#![no_std]

pub mod chunk;
mod error;
pub mod forks;
pub mod raw;
#[cfg(any(feature = "asan", feature = "valgrind"))]
pub mod shadow;
#[cfg(not(any(feature = "asan", feature = "valgrind")))]
#[path = "shadow_off.rs"]
mod shadow;
pub mod thread;

pub use error::OutOfMemory;
