//! Heaps of ended threads, waiting for the next thread.

use crate::heap::{Heap, Standing};
use crate::sync::{Lock, const_fn};
use core::cell::UnsafeCell;
use core::ptr;

/// A list of heaps without threads. Its lock comes before every heap's lock.
pub struct Idle {
    /// Guards the list.
    pub lock: Lock,
    first: UnsafeCell<*mut Heap>,
}

// SAFETY: `first` is touched only with `lock` held.
unsafe impl Sync for Idle {}

impl Idle {
    const_fn! {
        /// An empty list.
        pub fn new() -> Idle {
            Idle { lock: Lock::new(), first: UnsafeCell::new(ptr::null_mut()) }
        }
    }

    /// Takes a heap over; null when none waits. It is the caller's alone, but for those who settle
    /// its mail or purge it with its lock held.
    pub fn adopt(&self) -> *mut Heap {
        self.lock.with(|| {
            // SAFETY: the lock is held; orphans are linked by `next_idle`.
            unsafe {
                let h = *self.first.get();
                if !h.is_null() {
                    *self.first.get() = (*h).next_idle;
                }
                h
            }
        })
    }

    /// Makes an adopted or new heap a thread's.
    ///
    /// # Safety
    /// The heap is the caller's and in no list.
    pub unsafe fn attach(h: *mut Heap, thread: usize) {
        // SAFETY: the caller's contract; others touch the heap with its lock held only.
        unsafe {
            (*h).lock.lock();
            (*h).set_standing(Standing::Attached);
            (*h).set_thread(thread);
            (*h).lock.unlock();
        }
    }

    /// Leaves a heap to the next thread, front caches and all. `last` runs with its lock held.
    ///
    /// # Safety
    /// The heap is the calling thread's own, and no longer in its slot.
    pub unsafe fn leave(&self, h: *mut Heap, last: impl FnOnce(*mut Heap)) {
        self.lock.lock();
        // SAFETY: the caller's contract; both locks are held.
        unsafe {
            (*h).lock.lock();
            last(h);
            self.orphan(h);
            (*h).lock.unlock();
        }
        self.lock.unlock();
    }

    /// Puts a heap into the list.
    ///
    /// # Safety
    /// The list's lock is held, and the heap's, or there is no other thread. The heap is nobody's.
    pub unsafe fn orphan(&self, h: *mut Heap) {
        // SAFETY: the caller's contract.
        unsafe {
            (*h).set_thread(0);
            (*h).set_standing(Standing::Orphan);
            (*h).next_idle = *self.first.get();
            *self.first.get() = h;
        }
    }
}
