//! The atomics and the futex that the lock is built from. `crates/models` replaces them by loom's.

pub(crate) use crate::futex::{futex_wait_word, futex_wake_word};
pub(crate) use crate::thread::pointer as thread_mark;
pub(crate) use core::hint::spin_loop;
pub(crate) use core::sync::atomic::{AtomicUsize, Ordering};

use core::sync::atomic::AtomicU64;

/// Looks at a taken lock before sleeping.
pub(crate) const SPINS: u32 = 100;
/// Looks at a taken lock before a fork goes on without it.
pub(crate) const FORK_SPINS: u32 = 100 * SPINS;

static WAITS: AtomicU64 = AtomicU64::new(0);

/// Counts a thread that goes to sleep on a lock.
pub(crate) fn count_wait() {
    WAITS.fetch_add(1, Ordering::Relaxed);
}

/// How often a thread has gone to sleep on any lock of this kind.
pub(crate) fn waits() -> u64 {
    WAITS.load(Ordering::Relaxed)
}

/// A `const fn`, which loom's atomics do not allow.
macro_rules! const_fn {
    ($(#[$meta:meta])* $vis:vis fn $($rest:tt)*) => { $(#[$meta])* $vis const fn $($rest)* };
}
pub(crate) use const_fn;
