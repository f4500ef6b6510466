//! What the protocols between threads are made of. `crates/models` puts loom's parts in their place
//! and explores `inbox`, `post`, `idle`, `helper` and `fork` in every interleaving.

pub use allod_os::futex::{futex_wait, futex_wake};
pub use allod_os::lock::Lock;
pub use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// A `const fn`, which loom's atomics do not allow.
macro_rules! const_fn {
    ($(#[$meta:meta])* $vis:vis fn $($rest:tt)*) => { $(#[$meta])* $vis const fn $($rest)* };
}
pub(crate) use const_fn;
