//! How large the front caches are.
//!
//! A cache that alternately runs full and empty is too small and grows; one that only runs full belongs to
//! a thread that only frees, and shrinks. All caches of a heap together may grow by a fixed budget.

use crate::base::class::Class;
use crate::heap::caches::GROWTH_BUDGET;
use crate::heap::heap::Heap;
use crate::heap::locked::LockedHeap;

/// Caches of classes above this size do not shrink while
const MEDIUM: usize = 8 * 1024;
/// all caches together have grown by this much at most: a program that takes many blocks and then frees
/// them all, again and again, finds its caches as it needs them.
const GROWN_FREELY: usize = 2 << 20;

impl LockedHeap<'_> {
    /// Adapts a class's front cache, which has run empty, to how it is used: alternating refills and flushes
    /// mean that it is too small; refills alone mean that larger batches pay.
    ///
    /// # Safety
    /// The heap's bins are the caller's to change.
    #[inline(always)]
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
    #[inline(never)]
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

    /// Halves a front cache's room, if its entries leave room in the remaining half, because a push
    /// follows. The room does not fall below a quarter of what it was at first.
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
