//! First-class heaps: heaps that a program makes, allocates from, and destroys whole.

use crate::base::layout::MIN_ALIGN;
use crate::base::settings;
use crate::heap::heap::Heap as Core;
use crate::heap::locked::LockedHeap;
use crate::paths::{calls, large};
use crate::purge::policy;
use crate::slab::Left;
use crate::thread::shared;
use core::ptr::NonNull;

/// A heap of its own, apart from the threads' heaps, that can be destroyed whole.
///
/// A `Heap` is a handle: copying it copies no memory. All methods may be called from any thread;
/// they take the heap's lock (about 20 ns). Single blocks may also be freed with
/// [`free`](crate::free) from any thread. Nothing is destroyed by dropping the handle.
///
/// ```
/// use allod_heap::Heap;
/// let heap = Heap::new().expect("memory");
/// let p = heap.malloc(100);
/// assert!(!p.is_null());
/// // SAFETY: nothing of the heap is used afterwards.
/// unsafe { heap.destroy() };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heap(NonNull<Core>);

// SAFETY: every operation takes the heap's lock.
unsafe impl Send for Heap {}
// SAFETY: as for Send.
unsafe impl Sync for Heap {}

impl Heap {
    /// Makes an empty heap; `None` when memory is out.
    pub fn new() -> Option<Heap> {
        NonNull::new(shared::make()?).map(Heap)
    }

    /// Takes `size` bytes aligned to 16; null when memory is out.
    pub fn malloc(self, size: usize) -> *mut u8 {
        self.aligned_alloc(MIN_ALIGN, size)
    }

    /// Like [`malloc`](Heap::malloc), with every byte zero.
    pub fn malloc_zeroed(self, size: usize) -> *mut u8 {
        // SAFETY: the handle's heap is shared.
        unsafe { calls::heap_zeroed(self.0.as_ptr(), size) }
    }

    /// Takes `size` bytes at a multiple of `align`, a power of two; null when memory is out.
    pub fn aligned_alloc(self, align: usize, size: usize) -> *mut u8 {
        // SAFETY: the handle's heap is shared.
        unsafe { calls::heap_aligned(self.0.as_ptr(), align, size) }
    }

    /// Resizes a block of this heap, moving it when needed; null when memory is out, with the old
    /// block untouched. `p` may be null.
    ///
    /// # Safety
    /// `p` is null or a live block of this heap; after success only the result is used.
    pub unsafe fn realloc(self, p: *mut u8, size: usize) -> *mut u8 {
        // SAFETY: the caller's contract.
        unsafe { calls::realloc_by(p, MIN_ALIGN, size, |size| self.malloc(size)) }
    }

    /// Frees all blocks of the heap at once and ends it. Cost grows with its spans, not its blocks.
    ///
    /// # Safety
    /// No block of the heap, and no copy of the handle, is used during or after the call.
    pub unsafe fn destroy(self) {
        let h = self.0.as_ptr();
        // SAFETY: nobody else uses the heap any more (contract); the lock keeps the purger out. The
        // span of a large block in the heap's list is the heap's to give up.
        unsafe {
            let Some(mut locked) = enter_at_rest(h) else { return };
            locked.settle_mail();
            let larges = locked.inside().slabs.give_all();
            while locked.inside().slabs.near.give_old(settings::now(), 0, usize::MAX) == Left::Old {
            }
            locked.forget_blocks();
            drop(locked);
            larges.for_each(|span| large::give(span));
            shared::retire(h);
        }
        policy::note_freed(1 << 20);
    }
}

/// Takes a heap's lock once the purger has borrowed nothing from it.
///
/// # Safety
/// `h` is a heap.
unsafe fn enter_at_rest<'a>(h: *mut Core) -> Option<LockedHeap<'a>> {
    loop {
        // SAFETY: the caller's contract.
        let mut locked = unsafe { Core::enter(h)? };
        let slabs = &mut locked.inside().slabs;
        // SAFETY: the heap is locked.
        unsafe { slabs.return_abandoned() };
        if !slabs.is_lending() {
            return Some(locked);
        }
        drop(locked);
        allod_os::thread::pause(1);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::slab::{Found, Pages, Ripe};
    use std::time::Duration;

    /// Borrows free blocks of a heap and never returns them.
    fn borrow(heap: Heap) {
        // SAFETY: the handle's heap is shared; nobody gives pages of the blocks back.
        unsafe {
            let mut locked = Core::enter(heap.0.as_ptr()).expect("nobody interrupts this");
            let (mut left, mut pages) = (usize::MAX, Pages::none());
            let mut ripe = Ripe { now: settings::now(), delay: 0, waiting: false };
            let found = locked.inside().slabs.borrow_ripe(&mut left, &mut ripe, &mut pages);
            assert!(matches!(found, Found::Pages));
        }
    }

    #[test]
    fn a_heap_is_destroyed_when_a_fork_has_left_behind_who_borrowed_from_it() {
        let heap = Heap::new().expect("memory");
        let blocks = [(); 1000].map(|()| heap.malloc(1000));
        for block in &blocks[..500] {
            // SAFETY: allocated above.
            unsafe { calls::free(*block) };
        }
        std::thread::spawn(move || borrow(heap)).join().unwrap();
        let (done, ended) = std::sync::mpsc::channel();
        // SAFETY: as in a child whose thread was interrupted in the heap: the other one does not exist there.
        unsafe { Core::abandon_borrowed(heap.0.as_ptr()) };
        std::thread::spawn(move || {
            // SAFETY: nobody else uses the heap.
            unsafe { heap.destroy() };
            done.send(()).unwrap();
        });
        assert!(ended.recv_timeout(Duration::from_secs(10)).is_ok(), "it waits for ever");
    }
}
