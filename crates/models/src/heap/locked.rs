//! A heap whose lock is held.

use crate::base::class::Class;
use crate::base::layout::Unit;
use crate::heap::heap::Heap;
use crate::lock::Held;
use crate::mail::parcel::Parcel;
use crate::map::cache::Cache;
use crate::map::misuse::Fault;
use crate::slab::slabs::{SIZE, Slabs};
use std::ptr;

/// What a heap's lock guards.
pub struct Inside {
    /// As in the heap.
    pub slabs: Slabs,
    /// As in the heap.
    pub left_at: u32,
    /// As in the heap.
    pub pending: *mut Parcel,
    /// As in the heap.
    pub slow: Slow,
    /// True in a forked child where another thread was in the middle of a change.
    pub torn: bool,
}

/// Counters.
pub struct Slow {
    /// As in the heap.
    pub parcels_received: u64,
}

/// As in the heap.
pub struct LockedHeap<'a> {
    heap: *mut Heap,
    _held: Held<'a>,
}

impl Inside {
    pub(crate) fn new(unit: Unit) -> Inside {
        Inside::of(Slabs::new(unit), false)
    }

    pub(crate) fn of(slabs: Slabs, torn: bool) -> Inside {
        let slow = Slow { parcels_received: 0 };
        Inside { slabs, left_at: 0, pending: ptr::null_mut(), slow, torn }
    }
}

impl Heap {
    /// As in the heap.
    ///
    /// # Safety
    /// `h` is a heap.
    pub unsafe fn enter<'a>(h: *mut Heap) -> Option<LockedHeap<'a>> {
        // SAFETY: heaps stay until the run is over.
        Some(LockedHeap { heap: h, _held: unsafe { (*h).lock.enter()? } })
    }

    /// As in the heap.
    ///
    /// # Safety
    /// `h` is a heap.
    pub unsafe fn try_enter<'a>(h: *mut Heap) -> Option<LockedHeap<'a>> {
        // SAFETY: heaps stay until the run is over.
        Some(LockedHeap { heap: h, _held: unsafe { (*h).lock.try_enter()? } })
    }
}

impl LockedHeap<'_> {
    /// As in the heap.
    pub fn heap(&self) -> *mut Heap {
        self.heap
    }

    /// As in the heap.
    pub fn inside(&mut self) -> &mut Inside {
        // SAFETY: the lock is held, which loom checks.
        let inside = unsafe { &mut *(*self.heap).inside.get() };
        assert!(!inside.torn, "another thread was in the middle of a change here");
        inside
    }

    /// As in the heap; the models free nothing twice.
    pub fn note(&mut self, fault: Option<Fault>) {
        assert!(fault.is_none(), "{fault:?}");
    }

    /// As in the heap. The receiver's use of a block comes after all of the sender's.
    ///
    /// # Safety
    /// The blocks are the heap's.
    pub unsafe fn give(&mut self, blocks: &[*mut u8]) {
        for &p in blocks {
            crate::vm::write(p as usize, 0);
            let fault = self.inside().slabs.give(p);
            self.note(fault);
        }
    }

    /// As in the heap.
    ///
    /// # Safety
    /// The blocks are the heap's.
    pub(super) unsafe fn put_back(&mut self, blocks: &[*mut u8]) {
        // SAFETY: the caller's contract.
        unsafe { self.give(blocks) };
    }

    pub(super) unsafe fn cache_for(&self, _: *mut u8) -> Option<Cache> {
        // SAFETY: only `receive` touches the cache, and its caller may.
        Some(unsafe { Heap::cache(self.heap, Class::of(SIZE)) })
    }

    /// As in the heap, where the cache is empty or not.
    ///
    /// # Safety
    /// The front cache is the caller's.
    pub unsafe fn receive_mail(&mut self) {
        // SAFETY: the caller's contract.
        unsafe { self.receive(Class::of(SIZE)) }
    }

    /// As in the heap.
    ///
    /// # Safety
    /// The front cache is the caller's.
    pub unsafe fn empty_caches(&mut self) {
        // SAFETY: the caller's contract.
        unsafe {
            let blocks = std::mem::take(Heap::cache(self.heap, Class::of(SIZE)).entries());
            self.give(&blocks);
        }
    }
}
