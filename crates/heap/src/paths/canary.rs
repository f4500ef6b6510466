//! Canaries: words in a block's slack that nobody but the heap writes, keyed by their addresses.
//!
//! ```text
//!  │◀────────── size ──────────▶│◀──────── slack ────────▶│
//!  │ the program's              │ head …           … tail │   a word each; where the slack is shorter,
//!  └────────────────────────────┴─────────────────────────┘   as many bytes of them as it has
//! ```
//! Both hold the same word, the head's turned so that the same bytes would fill all of the slack. The tail is there for
//! whoever writes in front of the next block.

use crate::base::secret;

const WORD: usize = size_of::<u64>();

/// The canaries of a block: where the first and the last word of its slack are, the same place where it has no more than
/// one, and what belongs in both.
struct Ends {
    head: *mut u64,
    tail: *mut u64,
    /// The tail's word, and that word turned so that they agree where they overlap.
    words: [u64; 2],
    /// Which bits of both are the canary's: the rest, in a slack of less than a word, is the program's.
    mask: u64,
}

impl Ends {
    /// Those of a block of `size` bytes with room for `room`, a multiple of 16, and not all of it in use.
    #[inline(always)]
    fn of(p: *const u8, room: usize, size: usize) -> Ends {
        let slack = room - size;
        let at = |place: usize| p.wrapping_add(place).cast::<u64>().cast_mut();
        let tail = at(room - WORD);
        let word = secret::canary(tail as usize);
        // Bytes of the last word that are not slack, the lowest addresses first.
        let others = WORD - slack.min(WORD);
        let from = room - slack.max(WORD);
        let turned = word.rotate_right(8 * (from % WORD) as u32);
        let mask = u64::MAX << (8 * others);
        Ends { head: at(from), tail, words: [word.to_le(), turned.to_le()], mask: mask.to_le() }
    }
}

/// Writes the canaries of a block of `size` bytes with room for `room`, whose slack, and what shares a word with it,
/// reads as zero.
///
/// # Safety
/// The block is the caller's, of `room` bytes, and `room` is `size`, or at least 16.
#[inline(always)]
pub unsafe fn write_new(p: *mut u8, room: usize, size: usize) {
    if room == size {
        return;
    }
    let Ends { head, tail, words: [word, turned], mask } = Ends::of(p, room, size);
    // SAFETY: the caller's contract: both words lie in the block's room. Where they are the same, the tail is written
    // last.
    unsafe {
        head.write_unaligned(turned);
        tail.write_unaligned(word & mask);
    }
}

/// Writes the canaries of a block of `size` bytes with room for `room`; what shares a word with them stays.
///
/// # Safety
/// As for [`write_new`].
pub unsafe fn write(p: *mut u8, room: usize, size: usize) {
    if room == size {
        return;
    }
    let Ends { head, tail, words: [word, turned], mask } = Ends::of(p, room, size);
    // SAFETY: as for `write_new`.
    unsafe {
        let kept = tail.read_unaligned() & !mask;
        head.write_unaligned(turned);
        tail.write_unaligned(kept | word & mask);
    }
}

/// True when nobody has written into the slack.
///
/// # Safety
/// The block has `room` bytes, and its canaries were written for these sizes.
#[inline(always)]
pub unsafe fn is_intact(p: *const u8, room: usize, size: usize) -> bool {
    if room == size {
        return true;
    }
    let Ends { head, tail, words: [word, turned], mask } = Ends::of(p, room, size);
    // SAFETY: the caller's contract.
    unsafe { (head.read_unaligned() ^ turned | tail.read_unaligned() ^ word) & mask == 0 }
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
