//! Atomics, exchanged for loom's in its tests.

#[cfg(all(loom, feature = "tokio"))]
pub(crate) use loom::sync::atomic::AtomicIsize;
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

#[cfg(all(not(loom), feature = "tokio"))]
pub(crate) use core::sync::atomic::AtomicIsize;
#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
