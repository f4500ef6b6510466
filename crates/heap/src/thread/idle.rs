//! Heaps of ended threads, waiting for the next thread.

use crate::base::sync::{Lock, UnsafeCell, const_fn};
use crate::heap::heap::{Heap, Standing};
use crate::heap::locked::LockedHeap;
use core::ptr;

/// A list of heaps without threads. Nobody waits for another lock with its lock held.
///
/// A heap has the list's standing exactly as long as it is in the list. So a fork, which holds the lock,
/// finds no heap in between.
pub struct Idle {
    lock: Lock,
    standing: Standing,
    first: UnsafeCell<*mut Heap>,
}

// SAFETY: `first` is touched only with `lock` held.
unsafe impl Sync for Idle {}

impl Idle {
    const_fn! {
        /// An empty list of heaps with the given standing.
        pub fn new(standing: Standing) -> Idle {
            Idle { lock: Lock::new(), standing, first: UnsafeCell::new(ptr::null_mut()) }
        }
    }

    /// Takes a heap over, with another standing; null when none is waiting. It belongs to the caller alone, except for
    /// those who unpack its mail or purge it with its lock held.
    pub fn adopt(&self, standing: Standing) -> *mut Heap {
        let Some(_held) = self.lock.enter() else { return ptr::null_mut() };
        // SAFETY: the lock is held; idle heaps are linked by `next_idle`.
        unsafe {
            let h = *self.first.get();
            if !h.is_null() {
                *self.first.get() = *(*h).next_idle();
                (*h).set_standing(standing);
            }
            h
        }
    }

    /// Makes an adopted or new heap a thread's.
    ///
    /// # Safety
    /// The heap is the caller's and in no list.
    pub unsafe fn attach(h: *mut Heap, thread: usize) {
        // SAFETY: the caller's contract; others touch the heap with its lock held only. The lock
        // cannot be this thread's already, because the heap was not.
        unsafe {
            let _locked = Heap::enter(h);
            (*h).set_standing(Standing::Attached);
            (*h).set_thread(thread);
        }
    }

    /// Leaves a heap to the next thread, front caches included. `last` runs with its lock held.
    ///
    /// # Safety
    /// The heap is the calling thread's own, and no longer in its slot.
    pub unsafe fn leave(&self, h: *mut Heap, last: impl FnOnce(&mut LockedHeap<'_>)) {
        // SAFETY: the caller's contract.
        unsafe {
            // A thread that was interrupted inside its own heap does not end there.
            let Some(mut locked) = Heap::enter(h) else { return };
            last(&mut locked);
            drop(locked);
            self.put(h);
        }
    }

    /// Puts a heap into the list.
    ///
    /// # Safety
    /// The heap is the caller's, who uses it no more, or nobody's, and in no list.
    pub unsafe fn put(&self, h: *mut Heap) {
        // If this thread was interrupted holding the lock, the heap is lost.
        if let Some(_held) = self.lock.enter() {
            // SAFETY: the lock is held; the heap is in no list.
            unsafe {
                *(*h).next_idle() = *self.first.get();
                *self.first.get() = h;
                (*h).set_thread(0);
                (*h).set_standing(self.standing);
            }
        }
    }

    /// The list's lock, for a fork.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }
}
