//! The count of an arena's handles, biased to the task that owns the arena.
//!
//! The thread on which the arena is open counts in a plain word; all others count in an atomic one,
//! which may temporarily be below zero. While the owner exists, the atomic word is offset by
//! `OWNED` and cannot reach zero; when the owner is dropped, it adds its plain word, and from then
//! on whoever brings the sum to zero is the last.

use crate::sync::{AtomicIsize, Ordering};
use core::cell::Cell;

/// The offset for the owner; far from zero and from overflow.
const OWNED: isize = isize::MAX / 2;

/// The two counts.
#[derive(Debug)]
pub struct Count {
    here: Cell<isize>,
    elsewhere: AtomicIsize,
}

impl Count {
    /// No handles, one owner.
    pub fn new() -> Count {
        Count { here: Cell::new(0), elsewhere: AtomicIsize::new(OWNED) }
    }

    /// Adds or removes a handle, on the thread on which the arena is open.
    ///
    /// # Safety
    /// The arena is open on the calling thread.
    #[inline(always)]
    pub unsafe fn change_here(&self, by: isize) {
        self.here.set(self.here.get() + by);
    }

    /// Adds a handle, on any thread that has one.
    #[inline]
    pub fn add(&self) {
        // The new handle is made from one that keeps the arena, so no order is needed.
        self.elsewhere.fetch_add(1, Ordering::Relaxed);
    }

    /// Removes a handle, on any thread. True if it was the last and the owner is gone; everything
    /// that other handles did happened before.
    #[inline]
    #[must_use]
    pub fn sub(&self) -> bool {
        self.elsewhere.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Removes the owner. True if no handle is left; everything that handles did happened before.
    ///
    /// # Safety
    /// The caller is the owner, which goes once; the arena is open nowhere.
    #[must_use]
    pub unsafe fn close(&self) -> bool {
        let left = self.here.get() - OWNED;
        self.elsewhere.fetch_add(left, Ordering::AcqRel) + left == 0
    }
}
