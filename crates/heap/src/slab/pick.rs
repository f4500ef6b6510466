//! Which free blocks of a slab are handed out next: the lowest, so that pages never used stay untouched.

use crate::map::record::{BITMAP_WORDS, Span};

/// Takes up to `want` free blocks out of a slab's bitmap and writes them downwards from `below`, with the
/// lowest address last (it is popped first). Returns where the writing ended.
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
