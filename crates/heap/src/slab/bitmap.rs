//! Putting blocks back into a slab.
//!
//! Blocks are taken and put back without touching them: a page whose blocks are all free can be given back
//! although the slab is in use. Putting a block back sets its bit, and detects double frees and
//! pointers into the middle of a block.

use crate::map::misuse::{Fault, Misuse};
use crate::map::record::{BITMAP_WORDS, Span};
use crate::slab::borrowed::Borrowed;

/// Puts back the first of `blocks` and those right after it that are of the same slab, up to one that cannot be put back.
/// Returns how many those are. Blocks that were allocated one after the other are often freed so, and what they have in common
/// is done once.
///
/// # Safety
/// The heap of the slab is locked; `span` is the record of the slab in whose units the first block lies, and
/// `borrowed` what is borrowed of the heap.
#[inline]
pub unsafe fn put(span: *mut Span, blocks: &[*mut u8], borrowed: &Borrowed) -> usize {
    // SAFETY: the record is stable under the lock.
    unsafe {
        let (slab, bitmap) = (&mut *Span::slab(span), &mut *Span::bitmap(span));
        let lent = borrowed.is_of(span);
        let mut lowest = slab.hint as usize;
        let mut count = 0;
        for &p in blocks {
            let offset = (p as usize).wrapping_sub((*span).start);
            let Some(index) = slab.index_of(offset) else { break };
            let (word, bit) = (index / 64 % BITMAP_WORDS, 1u64 << (index % 64));
            if bitmap[word] & bit != 0 || lent && borrowed.holds(index) {
                break;
            }
            bitmap[word] |= bit;
            lowest = lowest.min(word);
            count += 1;
        }
        if count > 0 {
            slab.free += count as u16;
            slab.hint = lowest as u8;
            slab.purged = false;
            slab.touched = true;
        }
        count
    }
}

/// Why a pointer into a slab's units cannot be put back.
///
/// # Safety
/// The heap of the slab is locked; `span` is its record.
#[cold]
pub unsafe fn fault(span: *mut Span, p: *mut u8) -> Fault {
    // SAFETY: the record is stable under the lock.
    let offset = (p as usize).wrapping_sub(unsafe { (*span).start });
    // SAFETY: as above.
    let what = match unsafe { (*Span::slab(span)).index_of(offset) } {
        Some(_) => Misuse::DoubleFree,
        None => Misuse::NotABlock,
    };
    Fault { pointer: p, what }
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
