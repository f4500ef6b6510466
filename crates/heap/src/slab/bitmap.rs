//! Putting blocks back into a slab.
//!
//! Blocks are taken and put back without touching them: a page whose blocks are all free can be given back
//! although the slab is in use. Putting a block back sets its bit, and detects double frees and
//! pointers into the middle of a block.

use crate::map::misuse::{Fault, Misuse};
use crate::map::record::Span;
use crate::slab::borrowed::Borrowed;

/// Puts a block back.
///
/// # Safety
/// The heap of the slab is locked; `span` is the record of the slab in whose units `p` lies, and
/// `borrowed` what is borrowed of the heap.
#[inline]
pub unsafe fn put(span: *mut Span, p: *mut u8, borrowed: &Borrowed) -> Result<(), Fault> {
    // SAFETY: the record is stable under the lock.
    unsafe {
        let (slab, bitmap) = (&mut *Span::slab(span), &mut *Span::bitmap(span));
        let offset = (p as usize).wrapping_sub((*span).start);
        let Some(index) = slab.index_of(offset) else {
            return Err(Fault { pointer: p, what: Misuse::NotABlock });
        };
        let (word, bit) = (index / 64, 1u64 << (index % 64));
        if bitmap[word] & bit != 0 || borrowed.holds(span, index) {
            return Err(Fault { pointer: p, what: Misuse::DoubleFree });
        }
        bitmap[word] |= bit;
        slab.free += 1;
        slab.hint = slab.hint.min(word as u8);
        slab.purged = false;
        slab.touched = true;
        Ok(())
    }
}

/// Marks all blocks of a new slab free.
///
/// # Safety
/// The slab is the caller's alone.
pub unsafe fn fill(span: *mut Span, blocks: usize) {
    // SAFETY: the caller's contract; a slab has at most as many blocks as the bitmap has bits.
    unsafe {
        let bitmap = &mut *Span::bitmap(span);
        let (full, rest) = (blocks / 64, blocks % 64);
        bitmap[..full].fill(!0);
        if rest != 0 {
            bitmap[full] = (1 << rest) - 1;
        }
    }
}
