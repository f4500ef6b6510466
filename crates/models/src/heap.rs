//! Heaps.

#[path = "heap/heap.rs"]
pub mod heap;
#[path = "heap/locked.rs"]
pub mod locked;
#[path = "../../heap/src/heap/post.rs"]
pub mod post;
#[path = "../../heap/src/heap/stirred.rs"]
pub mod stirred;
#[path = "../../heap/src/heap/unpack.rs"]
mod unpack;

/// Which heap a thread uses.
pub mod slot {
    use crate::heap::heap::Heap;

    /// As in the heap.
    pub fn own() -> Option<*mut Heap> {
        Some(slot::get()).filter(|h| !h.is_null())
    }

    /// As in the heap, but null before the first `set`.
    pub mod slot {
        use crate::heap::heap::Heap;
        use std::cell::Cell;
        use std::ptr;

        loom::thread_local! {
            static SLOT: Cell<*mut Heap> = Cell::new(ptr::null_mut());
        }

        /// The calling thread's heap.
        pub fn get() -> *mut Heap {
            SLOT.with(Cell::get)
        }

        /// Makes a heap the calling thread's.
        pub fn set(h: *mut Heap) {
            SLOT.with(|slot| slot.set(h));
        }
    }
}
