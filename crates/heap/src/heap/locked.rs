//! A heap whose lock is held, as a value; and returning blocks to their slabs.

use crate::base::class::Class;
use crate::heap::drawn::Drawn;
use crate::heap::heap::{Heap, STIRRED, Standing};
use crate::heap::inside::Inside;
use crate::map::bin::{Bin, heap_and_class};
use crate::map::cache::Cache;
use crate::map::misuse::Fault;
use crate::map::span_map::MAP;
use crate::slab::Owner;
use allod_os::lock::Held;
use core::sync::atomic::{Ordering::SeqCst, compiler_fence};

/// A heap whose lock is held. Dropping it releases the lock, and then reports misuse that was found.
pub struct LockedHeap<'a> {
    heap: *mut Heap,
    // Fields are dropped in the order of declaration: the lock before the report.
    _held: Held<'a>,
    found: Found,
}

/// Misuse that was found while the lock was held.
struct Found(Option<Fault>);

impl Drop for Found {
    #[inline]
    fn drop(&mut self) {
        if let Some(fault) = self.0.take() {
            fault.report();
        }
    }
}

impl Heap {
    /// Takes a heap's lock. `None` when the calling thread holds it, having been interrupted there by
    /// a signal, and for a heap that a fork has left behind.
    ///
    /// # Safety
    /// `h` is a heap, not a static one.
    #[inline]
    pub unsafe fn enter<'a>(h: *mut Heap) -> Option<LockedHeap<'a>> {
        // SAFETY: heaps are never freed.
        unsafe {
            if let Some(locked) = Heap::try_enter(h) {
                return Some(locked);
            }
            if (*h).standing() == Standing::Lost {
                // The holder of the lock does not exist in this process.
                return None;
            }
            let held = (*h).guarded.lock.enter()?;
            Some(LockedHeap { heap: h, _held: held, found: Found(None) })
        }
    }

    /// Takes a heap's lock if it is free.
    ///
    /// # Safety
    /// As for [`enter`](Heap::enter).
    #[inline]
    pub unsafe fn try_enter<'a>(h: *mut Heap) -> Option<LockedHeap<'a>> {
        // SAFETY: heaps are never freed.
        let held = unsafe { (*h).guarded.lock.try_enter()? };
        Some(LockedHeap { heap: h, _held: held, found: Found(None) })
    }
}

impl LockedHeap<'_> {
    /// The heap.
    #[inline]
    pub fn heap(&self) -> *mut Heap {
        self.heap
    }

    /// What the lock guards.
    #[inline]
    pub fn inside(&mut self) -> &mut Inside {
        // SAFETY: the lock is held, so this is the only reference.
        unsafe { &mut *(*self.heap).guarded.inside.get() }
    }

    /// The heap as the layer of slabs knows it.
    #[inline]
    pub fn owner(&self) -> Owner {
        Owner { heap: self.heap.cast(), bin: |heap, class| Heap::bin(heap.cast(), class) }
    }

    /// Asks the purger to look at the heap in its next turn.
    #[inline]
    pub fn stir(&self) {
        // SAFETY: heaps are never freed.
        STIRRED.add(unsafe { &*self.heap });
    }

    /// Keeps misuse to be reported once the lock is released.
    #[inline]
    pub fn note(&mut self, fault: Option<Fault>) {
        if self.found.0.is_none() {
            self.found.0 = fault;
        }
    }

    /// Returns blocks to their slabs.
    ///
    /// # Safety
    /// Every pointer lies in a unit with a front cache's bin.
    pub unsafe fn give(&mut self, blocks: &[*mut u8]) {
        self.stir();
        // SAFETY: the caller's contract.
        unsafe { self.put_back(blocks) };
    }

    /// [`give`](LockedHeap::give) for callers that have told the purger already to look at the heap.
    ///
    /// # Safety
    /// As for `give`.
    #[inline]
    pub(super) unsafe fn put_back(&mut self, blocks: &[*mut u8]) {
        let owner = self.owner();
        // SAFETY: the heap is locked; the caller's contract.
        let fault = unsafe { self.inside().slabs.give(owner, blocks) };
        self.note(fault);
    }

    /// The front cache of this heap that a block belongs to; `None` when the span map by now names
    /// another heap's, or none.
    pub(super) unsafe fn cache_for(&self, p: *mut u8) -> Option<Cache> {
        let bin: *mut Bin = MAP.bin_of(p)?;
        let own = MAP.is_front_cache(bin) && heap_and_class(bin).0 == self.heap as usize;
        // SAFETY: the heap's bins are the caller's.
        own.then(|| unsafe { Cache::new(bin) })
    }

    /// Returns all blocks in the front caches, and those that were drawn from them, to their slabs.
    ///
    /// # Safety
    /// The heap's bins are the caller's to change.
    pub unsafe fn empty_caches(&mut self) {
        for class in Class::all() {
            // SAFETY: the caller's contract.
            unsafe { self.empty_cache(class) };
        }
    }

    unsafe fn empty_cache(&mut self, class: Class) {
        // SAFETY: entries between base and top are blocks of this heap.
        unsafe {
            loop {
                let drawn = Drawn::pop(Heap::drawn(self.heap), class);
                if drawn.is_null() {
                    break;
                }
                self.give(&[drawn]);
            }
            let cache = Heap::cache(self.heap, class);
            let len = cache.len();
            cache.set_len(0);
            compiler_fence(SeqCst);
            self.give(core::slice::from_raw_parts(cache.entries(), len));
        }
    }

    /// Gives up the slabs of all classes of which the program has no block: otherwise a single block in a front
    /// cache keeps a whole slab.
    ///
    /// # Safety
    /// The heap's bins are the caller's to change.
    pub(super) unsafe fn release_idle(&mut self) {
        for class in Class::all() {
            // SAFETY: the caller's contract.
            unsafe {
                let sum = self.inside().slabs.sum(class);
                let cached =
                    Heap::cache(self.heap, class).len() + Drawn::len(Heap::drawn(self.heap), class);
                if sum.units > 0 && sum.blocks - sum.free == cached {
                    self.empty_cache(class);
                    self.inside().slabs.release_current(class);
                }
            }
        }
    }

    /// Empties all front caches of a heap whose slabs are gone.
    ///
    /// # Safety
    /// The heap's bins are the caller's to change.
    pub unsafe fn forget_blocks(&mut self) {
        for class in Class::all() {
            // SAFETY: an empty cache is always valid.
            unsafe { Heap::cache(self.heap, class).set_len(0) };
        }
    }
}
