//! The atomics of the lock-free protocols: the real ones, or loom's when it explores them.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicPtr, Ordering};

#[cfg(not(loom))]
pub use core::sync::atomic::{AtomicPtr, Ordering};
