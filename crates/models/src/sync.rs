//! Loom's atomics in the place of the real ones.

pub use crate::futex::{futex_wait, futex_wait_word, futex_wake, futex_wake_word};
pub use crate::lock::Lock;
pub use crate::thread::pointer as thread_mark;
pub use loom::hint::spin_loop;
pub use loom::sync::atomic::{AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// One, so that models sleep early and stay small.
pub const SPINS: u32 = 1;
/// As small, so that a fork goes on without a lock soon.
pub const FORK_SPINS: u32 = 2;

/// As costly as the heavy one: what the processors do, not what they cost.
pub fn light_barrier() {
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// A full barrier of the calling thread; every other thread's is in `light_barrier`.
pub fn heavy_barrier() -> bool {
    loom::sync::atomic::fence(Ordering::SeqCst);
    true
}

/// Nothing is counted.
pub fn count_wait() {}

/// A plain function: loom's atomics cannot be made in constants.
macro_rules! const_fn {
    ($(#[$meta:meta])* $vis:vis fn $($rest:tt)*) => { $(#[$meta])* $vis fn $($rest)* };
}
pub(crate) use const_fn;
