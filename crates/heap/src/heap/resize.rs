//! How large the front caches are.
//!
//! A cache that alternately runs full and empty is too small and grows; one that only runs full belongs to
//! a thread that only frees, and shrinks. All caches of a heap together may grow by a fixed budget.
//!
//! Programs often take many blocks and then free them all. A cache notices such a burst by several refills, or flushes, in a
//! row. It then moves more blocks at once (`medium-400k`), and one of medium blocks is small while they are freed.

use crate::base::class::Class;
use crate::heap::caches::{GROWTH_BUDGET, MEDIUM};
use crate::heap::heap::Heap;
use crate::heap::locked::LockedHeap;

/// Caches of medium blocks shrink only until all caches together have grown by this much: what lies in them when a burst is
/// over stays there. A program that takes many blocks and then frees them all, again and again, gets its caches back when
/// it takes the next ones.
const GROWN_FREELY: usize = 1 << 20;

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
            let cap = Heap::cache(self.heap(), class).cap();
            self.inside().caches[class.index()].note_refill(cap);
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
            let most = cap.max(core::mem::take(&mut state.had) as usize);
            let all = most + state.flushed as usize;
            let to = if all <= max { all.max(most * 2) } else { most * 2 }.min(max);
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

    /// Halves the room of a front cache whose thread only frees, if its entries leave room in the remaining half, because
    /// a push follows. The room does not fall below a quarter of what it was at first.
    ///
    /// # Safety
    /// The heap's bins are the caller's to change.
    pub unsafe fn shrink_cache(&mut self, class: Class) {
        let h = self.heap();
        // SAFETY: the caller's contract.
        unsafe {
            let info = class.info();
            let inside = self.inside();
            let cache = Heap::cache(h, class);
            let cap = cache.cap();
            if info.size as usize > MEDIUM {
                if GROWTH_BUDGET.saturating_sub(inside.budget) <= GROWN_FREELY {
                    return;
                }
                let state = &mut inside.caches[class.index()];
                state.had = state.had.max(cap as u16);
            }
            let to = cap.div_ceil(2).max(info.first_cap as usize / 4).max(1);
            if to < cap && cache.len() < to {
                inside.budget += (cap - to) * info.size as usize;
                cache.set_cap(to);
            }
        }
    }
}
