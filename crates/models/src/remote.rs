//! A parcel that carries one block.

use crate::sync::AtomicU32;
use loom::cell::UnsafeCell;

/// What an inbox needs of a parcel, and one block, which loom watches.
pub struct Parcel {
    /// Next parcel.
    pub next: *mut Parcel,
    /// As in the heap.
    pub depth: AtomicU32,
    /// The block.
    pub block: UnsafeCell<usize>,
}

impl Parcel {
    /// A parcel with a block in it, for whoever takes it.
    pub fn boxed(block: usize) -> *mut Parcel {
        let parcel = Parcel {
            next: std::ptr::null_mut(),
            depth: AtomicU32::new(0),
            block: UnsafeCell::new(0),
        };
        // SAFETY: nobody else knows the parcel yet.
        parcel.block.with_mut(|b| unsafe { *b = block });
        Box::into_raw(Box::new(parcel))
    }

    /// Takes the block out. The parcel's memory stays, as in the heap: a sender may still read its
    /// depth.
    ///
    /// # Safety
    /// The parcel came from `boxed` and is the caller's.
    pub unsafe fn open(parcel: *mut Parcel) -> usize {
        // SAFETY: the caller's contract; loom checks that the contents are visible here.
        unsafe { (*parcel).block.with(|b| *b) }
    }
}
