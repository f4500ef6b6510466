//! How large the front caches are.
//!
//! A cache that runs full and empty in turn is too small and grows; one that only runs full belongs to
//! a thread that only frees, and shrinks. All caches of a heap together may grow by a fixed budget.

use crate::base::class::Class;
use crate::heap::heap::Heap;
use crate::heap::locked::LockedHeap;

/// Bytes by which all front caches of a heap together may outgrow their first size.
pub const GROWTH_BUDGET: usize = 8 << 20;
/// Flushes in a row after which a front cache shrinks: its thread only frees, and what lies in the
/// cache at the end keeps pages from going back.
const SHRINK_AFTER: u16 = 16;

/// Classes above this size do not shrink while
const MEDIUM: usize = 8 * 1024;
/// all caches together have grown by this much at most: a program that takes many blocks and then frees
/// them all, again and again, finds its caches as it needs them.
const GROWN_FREELY: usize = 2 << 20;

/// How the front cache of one class has been used.
#[derive(Clone, Copy, Debug)]
pub struct CacheState {
    /// Blocks taken from the slabs at the next refill.
    pub batch: u16,
    /// Flushes since the last refill.
    flushes: u16,
    /// Blocks flushed since the last refill.
    flushed: u32,
    /// True when the stack is the large one.
    grown: bool,
}

impl CacheState {
    /// Not used yet.
    pub const fn new() -> CacheState {
        CacheState { batch: 0, flushes: 0, flushed: 0, grown: false }
    }

    /// Takes note of a flush. True when the cache is to shrink.
    pub fn note_flush(&mut self) -> bool {
        self.flushes = self.flushes.saturating_add(1);
        self.flushes >= SHRINK_AFTER
    }

    /// Takes note of what a flush returned to the slabs.
    pub fn note_flushed(&mut self, blocks: usize) {
        self.flushed = self.flushed.saturating_add(blocks as u32);
    }
}

impl Default for CacheState {
    fn default() -> Self {
        Self::new()
    }
}

impl LockedHeap<'_> {
    /// Adapts a class's front cache, which has run empty, to how it is used: refills and flushes in
    /// turn mean that it is too small; refills alone mean that larger batches pay.
    ///
    /// # Safety
    /// The heap's bins are the caller's to change.
    pub unsafe fn adapt_cache(&mut self, class: Class) {
        // SAFETY: the caller's contract.
        unsafe {
            if self.inside().caches[class.index()].flushes > 0 {
                self.grow_cache(class);
                let state = &mut self.inside().caches[class.index()];
                state.flushes = 0;
                state.flushed = 0;
            }
            let half = (Heap::cache(self.heap(), class).cap() / 2).max(1);
            let state = &mut self.inside().caches[class.index()];
            state.batch = (state.batch as usize * 2).min(half) as u16;
        }
    }

    /// Lets the front cache of a class hold more, when the budget allows. It grows to hold what was
    /// flushed since it last ran empty, where that is possible at all; otherwise it doubles.
    unsafe fn grow_cache(&mut self, class: Class) {
        let h = self.heap();
        // SAFETY: the caller's bins; the large stack of a class has room for `max_cap`.
        unsafe {
            let info = class.info();
            let cache = Heap::cache(h, class);
            let cap = cache.cap();
            let max = info.max_cap as usize;
            let inside = self.inside();
            let state = &mut inside.caches[class.index()];
            let all = cap + state.flushed as usize;
            let to = if all <= max { all.max(cap * 2) } else { cap * 2 }.min(max);
            let cost = (to - cap.min(to)) * info.size as usize;
            if to <= cap || cap == 0 || cost > inside.budget {
                return;
            }
            inside.budget -= cost;
            if core::mem::replace(&mut state.grown, true) {
                return cache.set_cap(to);
            }
            cache.move_to(Heap::large_stack(h, class), to);
        }
    }

    /// Takes half of a front cache's room away, if what it holds leaves room in the rest: a push
    /// follows. It does not fall below a quarter of its first room.
    ///
    /// # Safety
    /// The heap's bins are the caller's to change.
    pub unsafe fn shrink_cache(&mut self, class: Class) {
        // SAFETY: the caller's contract.
        unsafe {
            let info = class.info();
            if info.size as usize > MEDIUM
                && GROWTH_BUDGET.saturating_sub(self.inside().budget) <= GROWN_FREELY
            {
                return;
            }
            let cache = Heap::cache(self.heap(), class);
            let cap = cache.cap();
            let to = (cap / 2).max(info.first_cap as usize / 4).max(1);
            if to < cap && cache.len() < to {
                self.inside().budget += (cap - to) * info.size as usize;
                cache.set_cap(to);
            }
        }
    }
}
