//! What is shared between threads is made of this. `crates/models` puts loom's parts in their place.

#[cfg(feature = "task")]
pub(crate) use core::sync::atomic::AtomicIsize;
pub(crate) use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
