//! The blocks that the purger has borrowed from a heap's slabs; see `pages`.

use crate::base::layout::Unit;
use crate::map::record::{BITMAP_WORDS, Bitmap, Span};
use crate::map::span_map::MAP;
use allod_os::thread;

/// The free blocks of a slab that the purger has borrowed; none when `unit` is none.
pub struct Borrowed {
    pub(super) unit: Unit,
    /// The thread that has borrowed them; 0 when a fork has left it behind.
    pub(super) thread: usize,
    pub(super) bits: Bitmap,
}

impl Borrowed {
    /// Nothing is borrowed.
    pub const fn nothing() -> Borrowed {
        Borrowed { unit: Unit::NONE, thread: 0, bits: [0; BITMAP_WORDS] }
    }

    /// In a forked child whose only thread was interrupted in the middle of a change to the heap: notes that
    /// another thread, which no longer exists, will not return what it has borrowed.
    ///
    /// # Safety
    /// `this` is that heap's, in such a child. The interrupted code is not affected, because it uses only what it
    /// has borrowed itself, and returns that.
    pub unsafe fn abandon(this: *mut Borrowed) {
        // SAFETY: the caller's contract.
        unsafe {
            let thread = &raw mut (*this).thread;
            if thread.read_volatile() != thread::pointer() {
                thread.write_volatile(0);
            }
        }
    }

    /// True when nobody will return what is borrowed.
    pub fn is_abandoned(&self) -> bool {
        !self.unit.is_none() && self.thread == 0
    }

    /// True when blocks of this slab are borrowed.
    #[inline]
    pub fn is_of(&self, span: *const Span) -> bool {
        !self.unit.is_none() && core::ptr::eq(MAP.span(self.unit), span)
    }

    /// True when the block with this number, of the slab in question, is among those that are borrowed.
    #[inline]
    pub fn holds(&self, index: usize) -> bool {
        self.bits[index / 64] >> (index % 64) & 1 == 1
    }
}
