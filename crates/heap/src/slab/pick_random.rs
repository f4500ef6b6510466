//! Which free blocks of a slab are handed out next, in the hardened build: random ones.
//!
//! A batch begins at a random place in the bitmap, takes a few blocks from each word, starting at a random bit, and
//! is shuffled.

use crate::base::secret;
use crate::map::record::Span;

/// Blocks taken from one word before going on to the next.
const FROM_A_WORD: u32 = 8;

/// Takes up to `want` free blocks out of a slab's bitmap and writes them downwards from `below`, in random order.
/// Returns where the writing ended.
///
/// # Safety
/// The heap of the slab is locked; `want` words below `below` may be written.
pub unsafe fn take(span: *mut Span, below: *mut *mut u8, want: usize) -> *mut *mut u8 {
    // SAFETY: the record is stable under the lock; indices stay below `blocks`.
    unsafe {
        let (slab, bitmap) = (&mut *Span::slab(span), &mut *Span::bitmap(span));
        let (size, words) = (slab.size as usize, (slab.blocks as usize).div_ceil(64));
        let take = want.min(slab.free as usize);
        slab.free -= take as u16;
        slab.touched = true;
        let mut random = secret::random();
        let mut word = random as usize % words;
        let mut at = below;
        while below.offset_from(at) < take as isize {
            random = random.rotate_right(7).wrapping_mul(secret::ODD);
            let turn = (random >> 58) as u32;
            let mut bits = bitmap[word].rotate_right(turn);
            for _ in 0..FROM_A_WORD {
                if bits == 0 || below.offset_from(at) == take as isize {
                    break;
                }
                let index = word * 64 + (bits.trailing_zeros() + turn) as usize % 64;
                bits &= bits - 1;
                slab.used = slab.used.max(index as u16 + 1);
                at = at.sub(1);
                *at = ((*span).start + index * size) as *mut u8;
            }
            bitmap[word] = bits.rotate_left(turn);
            word = (word + 1) % words;
        }
        shuffle(core::slice::from_raw_parts_mut(at, take), random);
        at
    }
}

/// Puts blocks into a random order.
fn shuffle(blocks: &mut [*mut u8], mut random: u64) {
    for last in (1..blocks.len()).rev() {
        random = random.rotate_right(7).wrapping_mul(secret::ODD).wrapping_add(1);
        blocks.swap(last, (random >> 33) as usize % (last + 1));
    }
}
