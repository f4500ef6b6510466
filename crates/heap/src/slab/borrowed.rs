//! What the purger has borrowed of a heap's slabs; see `pages`.

use crate::base::layout::Unit;
use crate::map::record::{BITMAP_WORDS, Bitmap, Span};
use crate::map::span_map::MAP;

/// The free blocks of a slab that the purger has borrowed; none when `unit` is none.
pub struct Borrowed {
    pub(super) unit: Unit,
    /// The thread that has borrowed them.
    pub(super) thread: usize,
    pub(super) bits: Bitmap,
}

impl Borrowed {
    /// Nothing is borrowed.
    pub const fn nothing() -> Borrowed {
        Borrowed { unit: Unit::NONE, thread: 0, bits: [0; BITMAP_WORDS] }
    }

    /// True when a block of a slab is among those that are borrowed.
    #[inline]
    pub fn holds(&self, span: *const Span, index: usize) -> bool {
        !self.unit.is_none()
            && core::ptr::eq(MAP.span(self.unit), span)
            && self.bits[index / 64] >> (index % 64) & 1 == 1
    }
}
