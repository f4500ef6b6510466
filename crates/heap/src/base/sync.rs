//! The atomics and statics of the protocols between threads. `crates/models` replaces them by loom's
//! and checks the files that its `lib.rs` lists in every interleaving.

pub use allod_os::barrier::light_barrier;
pub use allod_os::futex::{futex_wait, futex_wait_word, futex_wake, futex_wake_word};
pub use allod_os::lock::Lock;
pub use core::cell::UnsafeCell;
pub use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// A `const fn`, which loom's atomics do not allow.
macro_rules! const_fn {
    ($(#[$meta:meta])* $vis:vis fn $($rest:tt)*) => { $(#[$meta])* $vis const fn $($rest)* };
}

/// A static that a fork copies, so each process has its own; loom creates it afresh for each run.
macro_rules! process_wide {
    ($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty = $value:expr;) => {
        $(#[$meta])* $vis static $name: $type = $value;
    };
}
pub(crate) use {const_fn, process_wide};
