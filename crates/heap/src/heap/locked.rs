//! What is done with a heap's lock held; what is done with its mail is in `unpack`.

use crate::base::class::{CLASSES, Class};
use crate::heap::caches::CacheState;
use crate::heap::counters::{self, SlowCounters};
use crate::heap::heap::{Heap, STIRRED, Standing};
use crate::mail::parcel::Parcel;
use crate::map::bin::{Bin, heap_and_class};
use crate::map::cache::Cache;
use crate::map::misuse::Fault;
use crate::map::span_map::MAP;
use crate::slab::{Owner, Slabs};
use allod_os::lock::Held;
use core::ptr;
use core::sync::atomic::{Ordering::SeqCst, compiler_fence};

/// What a heap's lock guards.
pub struct Inside {
    /// Slabs and runs kept near.
    pub slabs: Slabs,
    /// How the front caches are used.
    pub caches: [CacheState; CLASSES],
    /// Bytes of growth left to the front caches.
    pub budget: usize,
    /// Since when the heap has been an orphan with its front caches full; 0 when it is not.
    pub left_at: u32,
    /// Slabs made when the last turn of purging came by.
    pub made_before: u64,
    /// When a turn last found that there were more.
    pub made_at: u32,
    /// Parcels taken out of the inbox and not yet unpacked.
    pub pending: *mut Parcel,
    /// Counters of the slow path.
    pub slow: SlowCounters,
}

/// A heap whose lock is held. Dropping it releases the lock, and then reports misuse that was found.
pub struct LockedHeap<'a> {
    heap: *mut Heap,
    // Dropped before what is reported: in the order of declaration.
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
                // Whoever holds the lock does not exist in this process.
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

    /// Has the purger look at the heap in its next turn.
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

    /// Takes a block of a class whose front cache is empty, and fills the cache. Null when memory is
    /// out.
    ///
    /// # Safety
    /// The heap's bins are the caller's to change.
    pub unsafe fn refill(&mut self, class: Class) -> *mut u8 {
        // SAFETY: the caller's contract.
        unsafe {
            self.stir();
            self.inside().slow.refills += 1;
            if !(*self.heap).inbox().is_empty() || !self.inside().pending.is_null() {
                self.receive(class);
            }
            let cache = Heap::cache(self.heap, class);
            let mut block = cache.pop();
            if block.is_null() {
                self.adapt_cache(class);
                block = self.take(class, cache);
                if block.is_null() && self.inside().slabs.idle.are_due() {
                    self.release_idle();
                    block = self.take(class, cache);
                }
            }
            if !block.is_null() {
                counters::count_malloc(self.heap, cache.bin());
            }
            block
        }
    }

    /// Takes a block from the slabs, and others for its front cache, which is empty, where there is one.
    unsafe fn take(&mut self, class: Class, cache: Cache) -> *mut u8 {
        // SAFETY: the caller's contract.
        unsafe {
            match cache.cap() {
                0 => self.take_one(class),
                cap => {
                    self.fill(class, cache, cap);
                    cache.pop()
                }
            }
        }
    }

    /// Fills an empty front cache from the slabs with a batch.
    unsafe fn fill(&mut self, class: Class, cache: Cache, cap: usize) {
        let owner = self.owner();
        // SAFETY: the heap is locked and its bins are the caller's; the batch fits.
        unsafe {
            let want = (self.inside().caches[class.index()].batch as usize).clamp(1, cap);
            let first = cache.entries();
            let top = first.add(want);
            let got = self.inside().slabs.take(owner, class, top, want);
            self.inside().slow.filled_bytes += (got * class.size()) as u64;
            if got < want {
                ptr::copy(top.sub(got), first, got);
            }
            cache.set_len(got);
        }
    }

    /// Takes one block from the slabs, for a class without a front cache.
    unsafe fn take_one(&mut self, class: Class) -> *mut u8 {
        let owner = self.owner();
        let mut one: [*mut u8; 1] = [ptr::null_mut()];
        // SAFETY: the heap is locked; there is room for one.
        unsafe { self.inside().slabs.take(owner, class, one.as_mut_ptr().add(1), 1) };
        one[0]
    }

    /// Returns the older half of a full front cache to the slabs. Returns the bytes.
    ///
    /// # Safety
    /// The heap's bins are the caller's to change.
    pub unsafe fn flush(&mut self, class: Class) -> usize {
        // SAFETY: the caller's contract.
        unsafe {
            let cache = Heap::cache(self.heap, class);
            let (entries, len) = (cache.entries(), cache.len());
            self.inside().slow.flushes += 1;
            let state = &mut self.inside().caches[class.index()];
            let shrink = state.note_flush();
            let keep = len / if shrink { 4 } else { 2 };
            let n = len - keep;
            state.note_flushed(n);
            // Empty meanwhile: a signal handler that interrupts this, in a forked child at least, must
            // find no block here that is on its way.
            cache.set_len(0);
            compiler_fence(SeqCst);
            self.give(core::slice::from_raw_parts(entries, n));
            ptr::copy(entries.add(n), entries, keep);
            compiler_fence(SeqCst);
            cache.set_len(keep);
            if shrink {
                self.shrink_cache(class);
            }
            n * class.size()
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

    /// [`give`](LockedHeap::give) where the purger knows already that it has to look at the heap.
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

    /// The front cache of this heap that a block belongs into; `None` when the span map names
    /// another heap's by now, or none.
    pub(super) unsafe fn cache_for(&self, p: *mut u8) -> Option<Cache> {
        let bin: *mut Bin = MAP.bin_of(p)?;
        let own = MAP.is_front_cache(bin) && heap_and_class(bin).0 == self.heap as usize;
        // SAFETY: the heap's bins are the caller's.
        own.then(|| unsafe { Cache::new(bin) })
    }

    /// Returns all blocks in the front caches to their slabs.
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
            let cache = Heap::cache(self.heap, class);
            let len = cache.len();
            cache.set_len(0);
            compiler_fence(SeqCst);
            self.give(core::slice::from_raw_parts(cache.entries(), len));
        }
    }

    /// Gives up the slabs of all classes of which the program has no block: otherwise one that lies in a front
    /// cache keeps a slab of many others.
    ///
    /// # Safety
    /// The heap's bins are the caller's to change.
    unsafe fn release_idle(&mut self) {
        for class in Class::all() {
            // SAFETY: the caller's contract.
            unsafe {
                let sum = self.inside().slabs.sum(class);
                let cached = Heap::cache(self.heap, class).len();
                if sum.units > 0 && sum.blocks - sum.free == cached {
                    self.empty_cache(class);
                    self.inside().slabs.release_current(class);
                }
            }
        }
    }

    /// Forgets all blocks, for a heap whose slabs are gone.
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
