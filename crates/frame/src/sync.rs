//! Synchronisation primitives. `crates/models` replaces them by loom's.

#[cfg(feature = "task")]
pub(crate) use core::sync::atomic::AtomicIsize;
pub(crate) use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
