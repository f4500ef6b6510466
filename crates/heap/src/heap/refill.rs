//! Front caches that ran empty or full: blocks from slabs and mail, and back to the slabs.

use crate::base::class::Class;
use crate::heap::counting;
use crate::heap::heap::Heap;
use crate::heap::locked::LockedHeap;
use crate::map::cache::Cache;
use core::ptr;
use core::sync::atomic::{Ordering::SeqCst, compiler_fence};

impl LockedHeap<'_> {
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
            if !(*self.heap()).inbox().is_empty() || !self.inside().pending.is_null() {
                self.receive(class);
            }
            let cache = Heap::cache(self.heap(), class);
            let mut block = cache.pop();
            if block.is_null() {
                self.adapt_cache(class);
                block = self.take(class, cache);
                if block.is_null() && self.inside().slabs.idle.are_due() {
                    block = self.take_from_idle(class, cache);
                }
            }
            if !block.is_null() {
                counting::count_malloc(self.heap(), cache.bin());
            }
            block
        }
    }

    /// Takes a block from the slabs, and others for its front cache, which is empty, where there is one.
    #[inline(always)]
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

    /// The same, once slabs of which the program has no block have been given up.
    #[cold]
    unsafe fn take_from_idle(&mut self, class: Class, cache: Cache) -> *mut u8 {
        // SAFETY: the caller's contract.
        unsafe {
            self.release_idle();
            self.take(class, cache)
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

    /// Adds blocks from the slabs to a front cache until it holds `want` or is full, below those that it holds.
    ///
    /// # Safety
    /// The heap's bins are the caller's to change.
    pub unsafe fn top_up(&mut self, class: Class, want: usize) {
        let owner = self.owner();
        // SAFETY: the heap is locked and its bins are the caller's; there is room up to the cache's end.
        unsafe {
            self.stir();
            self.adapt_cache(class);
            let cache = Heap::cache(self.heap(), class);
            let (first, len) = (cache.entries(), cache.len());
            let add = want.min(cache.cap()).saturating_sub(len);
            // Empty meanwhile, as for `flush`.
            cache.set_len(0);
            compiler_fence(SeqCst);
            ptr::copy(first, first.add(add), len);
            let got = self.inside().slabs.take(owner, class, first.add(add), add);
            self.inside().slow.filled_bytes += (got * class.size()) as u64;
            ptr::copy(first.add(add - got), first, got + len);
            compiler_fence(SeqCst);
            cache.set_len(len + got);
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
            let cache = Heap::cache(self.heap(), class);
            let (entries, len) = (cache.entries(), cache.len());
            self.inside().slow.flushes += 1;
            let state = &mut self.inside().caches[class.index()];
            let shrink = state.note_flush();
            let keep = len / if shrink { 4 } else { 2 };
            let n = len - keep;
            state.note_flushed(n);
            // Empty meanwhile: a signal handler that interrupts this, in a forked child at least, must not
            // find a block here that is being moved.
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
}
