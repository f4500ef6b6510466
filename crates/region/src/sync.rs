//! The atomics of the life protocol: the real ones, or loom's when it explores them.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

#[cfg(not(loom))]
pub use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
