//! A four-byte lock: spin briefly, then sleep on the futex.
//!
//! Unlocked 0, locked 1, locked with sleepers 2 (Drepper, "Futexes are tricky", mutex 3).
//! Zeroed memory is an unlocked lock. `crates/models` explores this file with loom.

use crate::sync::{AtomicU32, Ordering, SPINS, const_fn, futex_wait, futex_wake, spin_loop};

/// A lock that guards data kept elsewhere. Zero bytes are an unlocked lock. Not reentrant.
#[derive(Debug)]
#[repr(transparent)]
pub struct Lock(AtomicU32);

impl Default for Lock {
    fn default() -> Self {
        Self::new()
    }
}

impl Lock {
    const_fn! {
        /// An unlocked lock.
        pub fn new() -> Lock {
            Lock(AtomicU32::new(0))
        }
    }

    /// Takes the lock, sleeping when another thread holds it for long.
    #[inline]
    pub fn lock(&self) {
        if self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.wait();
        }
    }

    /// Takes the lock if it is free.
    #[inline]
    #[must_use]
    pub fn try_lock(&self) -> bool {
        self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Releases the lock. Only its holder may call this.
    #[inline]
    pub fn unlock(&self) {
        if self.0.swap(0, Ordering::Release) == 2 {
            futex_wake(&self.0, 1);
        }
    }

    /// Takes the lock for the time of one closure.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        self.lock();
        let r = f();
        self.unlock();
        r
    }

    #[cold]
    fn wait(&self) {
        for _ in 0..SPINS {
            if self.0.load(Ordering::Relaxed) == 0 && self.try_lock() {
                return;
            }
            spin_loop();
        }
        while self.0.swap(2, Ordering::Acquire) != 0 {
            futex_wait(&self.0, 2, None);
        }
    }
}
