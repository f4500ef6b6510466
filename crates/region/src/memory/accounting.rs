//! How a region uses memory.

use crate::memory::control::Control;

/// How a region uses memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounting {
    /// Bytes of objects, including headers and alignment padding.
    pub live: usize,
    /// The most that `live` has been since the region was created: the same as `live`, because a region only grows
    /// until it ends.
    pub peak: usize,
    /// Chunks held.
    pub chunks: usize,
    /// Bytes of those chunks.
    pub chunk_bytes: usize,
    /// Bytes in use of the 512 in the inline buffer.
    pub inline_used: usize,
    /// Stores that the barrier repaired by copying into this region or merging with it.
    pub repairs: usize,
}

/// Bytes of objects in `r`: [`Accounting::live`] without walking its chunks.
///
/// # Safety
/// As for [`accounting`].
#[inline]
pub unsafe fn live(r: *const Control) -> usize {
    // SAFETY: the caller's contract.
    unsafe { (*r).retired + ((*r).cursor as usize - (*r).first as usize) }
}

/// How `r` uses memory. Walks its chunks and those of what was spliced into it.
///
/// # Safety
/// `r` is a live region; the calling thread owns it or it is frozen.
pub unsafe fn accounting(r: *const Control) -> Accounting {
    // SAFETY: the caller's contract.
    unsafe {
        let live = live(r);
        let inline = Control::inline_start(r.cast_mut());
        let (mut chunks, mut chunk_bytes) = (0, 0);
        let mut block = r;
        while !block.is_null() {
            let mut c = (*block).oldest;
            while !c.is_null() {
                chunks += 1;
                chunk_bytes += (*c).limit as usize - c as usize;
                c = (*c).newer;
            }
            block = if block == r { (*r).merged } else { (*block).next };
        }
        Accounting {
            live,
            peak: live,
            chunks,
            chunk_bytes,
            inline_used: if (*r).first == inline {
                (*r).cursor as usize - inline as usize
            } else {
                (*r).inline_used.into()
            },
            repairs: (*r).repairs as usize,
        }
    }
}
