//! The thread slot: which heap a thread uses.

use crate::heap::heap::{Heap, SharedWord};

static BOTTOM: SharedWord = SharedWord(0);

/// A heap that is never written to.
#[repr(transparent)]
pub struct StaticHeap(Heap);
// SAFETY: every fast path on it fails without writing, and slow paths recognise it by address.
unsafe impl Sync for StaticHeap {}

/// What a thread's slot holds before its first allocation.
pub static BEFORE: StaticHeap = StaticHeap(Heap::nothing(&raw const BOTTOM));
/// What a thread's slot holds after its exit hook has run.
pub static AFTER: StaticHeap = StaticHeap(Heap::nothing(&raw const BOTTOM));

allod_os::thread_slot! {
    /// The calling thread's heap.
    pub mod slot: *mut Heap = BEFORE, symbol "allod_heap_thread_slot_v1"
}

impl StaticHeap {
    /// Its address, as a slot holds it.
    #[inline]
    pub fn address(&'static self) -> *mut Heap {
        (&raw const self.0).cast_mut()
    }
}

/// The calling thread's own heap if it has one now; makes none.
#[inline]
pub fn own() -> Option<*mut Heap> {
    let h = slot::get();
    (h != BEFORE.address() && h != AFTER.address()).then_some(h)
}
