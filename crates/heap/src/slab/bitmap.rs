//! Taking blocks from a slab and putting them back.
//!
//! Blocks are taken lowest first, without touching them: what was never used stays unmapped, and a
//! page whose blocks are all free can be given back although the slab lives. Putting a block back sets
//! its bit, and finds blocks that were freed twice and pointers into the middle of a block.

use crate::map::misuse::{Fault, Misuse};
use crate::map::record::{BITMAP_WORDS, Span};
use crate::slab::borrowed::Borrowed;

/// Writes up to `want` free blocks downwards from `below` so that the lowest address comes to lie
/// last (it is popped first). Returns where the writing ended.
///
/// # Safety
/// The heap of the slab is locked; `want` words below `below` may be written.
pub unsafe fn take(span: *mut Span, mut below: *mut *mut u8, want: usize) -> *mut *mut u8 {
    // SAFETY: the record is stable under the lock; indices stay below `blocks`.
    unsafe {
        let (slab, bitmap) = (&mut *Span::slab(span), &mut *Span::bitmap(span));
        let size = slab.size as usize;
        let mut left = want.min(slab.free as usize);
        slab.free -= left as u16;
        slab.touched = true;
        let mut word = slab.hint as usize;
        let mut last = 0;
        while left > 0 {
            let mut bits = bitmap[word];
            let base = (*span).start + word * 64 * size;
            while bits != 0 && left > 0 {
                let i = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                last = word * 64 + i;
                below = below.sub(1);
                *below = (base + i * size) as *mut u8;
                left -= 1;
            }
            bitmap[word] = bits;
            if bits == 0 {
                word += 1;
            }
        }
        slab.hint = word.min(BITMAP_WORDS - 1) as u8;
        slab.used = slab.used.max(last as u16 + 1);
        below
    }
}

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
