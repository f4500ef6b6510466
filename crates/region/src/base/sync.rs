//! The atomics that the counts are built from. `crates/models` replaces them by loom's.

pub use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
