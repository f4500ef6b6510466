//! Canaries: words in a block's slack that nobody but the heap writes, keyed by their addresses.
//!
//! ```text
//!  │◀────────── size ──────────▶│◀──────── slack ────────▶│
//!  │ the program's              │ head …           … tail │   a word each; where the slack is shorter,
//!  └────────────────────────────┴─────────────────────────┘   as many bytes of them as it has
//! ```
//! The tail is there for whoever writes in front of the next block.

use crate::base::secret;
use core::ptr;

const WORD: usize = size_of::<u64>();

/// The canary's bytes in the last word of a slack of `slack` bytes.
#[inline]
fn tail_mask(slack: usize) -> u64 {
    if slack >= WORD { u64::MAX } else { !(u64::MAX >> (8 * slack)) }
}

/// The canary's bytes in the first word of a slack of more than a word, as far as the tail leaves them.
#[inline]
fn head_mask(slack: usize) -> u64 {
    if slack >= 2 * WORD { u64::MAX } else { !(u64::MAX << (8 * (slack - WORD))) }
}

/// Bytes as they lie in memory, lowest address first: shifts of the masks go by addresses, not by values.
#[inline]
fn in_memory(word: u64) -> u64 {
    word.to_le()
}

/// Writes the canaries of a block of `size` bytes with room for `room`; bytes of the block that share a word with
/// a canary become zero.
///
/// # Safety
/// The block is the caller's, new, of `room` bytes, and `room` is `size`, or at least 16.
#[inline]
pub unsafe fn write(p: *mut u8, room: usize, size: usize) {
    let slack = room - size;
    if slack == 0 {
        return;
    }
    // SAFETY: the caller's contract: both words lie in the block's room.
    unsafe {
        if slack > WORD {
            let head = p.add(size);
            let word = in_memory(secret::canary(head as usize) & head_mask(slack));
            ptr::write_unaligned(head.cast::<u64>(), word);
        }
        let tail = p.add(room - WORD).cast::<u64>();
        let mask = in_memory(tail_mask(slack));
        let kept = ptr::read_unaligned(tail) & !mask;
        let canary = in_memory(secret::canary(tail as usize)) & mask;
        ptr::write_unaligned(tail, kept | canary);
    }
}

/// True when nobody has written into the slack.
///
/// # Safety
/// The block has `room` bytes, and [`write`] was called for it with these sizes.
#[inline]
pub unsafe fn is_intact(p: *const u8, room: usize, size: usize) -> bool {
    let slack = room - size;
    if slack == 0 {
        return true;
    }
    // SAFETY: the caller's contract.
    unsafe {
        let tail = p.add(room - WORD).cast::<u64>();
        let found = ptr::read_unaligned(tail) ^ in_memory(secret::canary(tail as usize));
        let mut wrong = found & in_memory(tail_mask(slack));
        if slack > WORD {
            let head = p.add(size);
            let found =
                ptr::read_unaligned(head.cast::<u64>()) ^ in_memory(secret::canary(head as usize));
            wrong |= found & in_memory(head_mask(slack));
        }
        wrong == 0
    }
}

/// Writes a canary in front of a block.
///
/// # Safety
/// The eight bytes there are the heap's.
pub unsafe fn write_before(p: *mut u8) {
    let at = p.wrapping_sub(WORD).cast::<u64>();
    // SAFETY: the caller's contract.
    unsafe { at.write(secret::canary(at as usize)) };
}

/// True when nobody has written over the canary in front of a block.
///
/// # Safety
/// [`write_before`] was called for the block.
pub unsafe fn is_intact_before(p: *const u8) -> bool {
    let at = p.wrapping_sub(WORD).cast::<u64>();
    // SAFETY: the caller's contract.
    unsafe { at.read() == secret::canary(at as usize) }
}

/// True when all bytes of a block are zero. The block's length is a multiple of 16.
///
/// # Safety
/// The block has `len` bytes, at a multiple of 16.
#[inline]
pub unsafe fn is_zero(p: *const u8, len: usize) -> bool {
    // SAFETY: the caller's contract.
    let words = unsafe { core::slice::from_raw_parts(p.cast::<u64>(), len / WORD) };
    let (chunks, rest) = words.as_chunks::<16>();
    let any = |words: &[u64]| words.iter().fold(0, |all, &word| all | word) != 0;
    !chunks.iter().any(|chunk| any(chunk)) && !any(rest)
}

/// Bytes at each end of a block that are looked at when it is handed out; of a block twice as long, all of it.
const END: usize = 128;

/// True when the first and the last bytes of a block are zero.
///
/// # Safety
/// As for [`is_zero`].
#[inline]
pub unsafe fn has_zero_ends(p: *const u8, len: usize) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        if len <= 2 * END {
            return is_zero(p, len);
        }
        is_zero(p, END) && is_zero(p.add(len - END), END)
    }
}
