//! What the purger has borrowed of a heap's slabs; see `pages`.

use crate::base::layout::Unit;
use crate::map::record::{BITMAP_WORDS, Bitmap};

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
}
