//! What the lock is made of. `crates/models` puts loom's parts in their place.

pub(crate) use crate::futex::{futex_wait, futex_wake};
pub(crate) use core::hint::spin_loop;
pub(crate) use core::sync::atomic::{AtomicU32, Ordering};

/// Looks at a taken lock before sleeping.
pub(crate) const SPINS: u32 = 100;

/// A `const fn`, which loom's atomics do not allow.
macro_rules! const_fn {
    ($(#[$meta:meta])* $vis:vis fn $($rest:tt)*) => { $(#[$meta])* $vis const fn $($rest)* };
}
pub(crate) use const_fn;
