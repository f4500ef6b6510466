//! Canaries: words in a block's slack that nobody but the heap writes, keyed by their addresses.
//!
//! ```text
//!  │◀────────── size ──────────▶│◀──────── slack ────────▶│
//!  │ the program's              │ head …           … tail │   a word each; where the slack is shorter,
//!  └────────────────────────────┴─────────────────────────┘   as many bytes of them as it has
//! ```
//! Both hold the same word. The tail is there for whoever writes in front of the next block.

use crate::base::secret;
use crate::base::zeros::is_zero;

const WORD: usize = size_of::<u64>();

/// Which bytes of a slack's first and last word are the canary's, by the length of the slack; as they lie in memory,
/// lowest address first. The first word has none of those that are the last one's, too.
static MASKS: [[u64; 2]; 2 * WORD + 1] = {
    let mut masks = [[0; 2]; 2 * WORD + 1];
    let mut slack = 1;
    while slack < masks.len() {
        let of_the_tail = if slack < WORD { slack } else { WORD };
        masks[slack][1] = (u64::MAX << (64 - 8 * of_the_tail)).to_le();
        if slack > WORD {
            masks[slack][0] = (u64::MAX >> (64 - 8 * (slack - WORD))).to_le();
        }
        slack += 1;
    }
    masks
};

#[inline]
fn masks(slack: usize) -> [u64; 2] {
    MASKS[slack.min(2 * WORD)]
}

/// Where the first and the last word of a block's slack are, the same place where there is no more than one, and what
/// belongs in both.
#[inline]
fn ends(p: *const u8, room: usize, slack: usize) -> (*mut u64, *mut u64, u64) {
    let at = |place: usize| p.wrapping_add(place).cast::<u64>().cast_mut();
    let tail = at(room - WORD);
    (at(room - slack.max(WORD)), tail, secret::canary(tail as usize).to_le())
}

/// Writes the canaries of a block of `size` bytes with room for `room`, whose slack, and what shares a word with it,
/// reads as zero.
///
/// # Safety
/// The block is the caller's, of `room` bytes, and `room` is `size`, or at least 16.
#[inline]
pub unsafe fn write_new(p: *mut u8, room: usize, size: usize) {
    let slack = room - size;
    if slack == 0 {
        return;
    }
    let (head, tail, word) = ends(p, room, slack);
    // SAFETY: the caller's contract: both words lie in the block's room. The tail goes over what the head has of it,
    // without a look at how long the slack is, which no processor could foresee.
    unsafe {
        head.write_unaligned(word);
        tail.write_unaligned(word & masks(slack)[1]);
    }
}

/// Writes the canaries of a block of `size` bytes with room for `room`; what shares a word with them stays.
///
/// # Safety
/// As for [`write_new`].
pub unsafe fn write(p: *mut u8, room: usize, size: usize) {
    let slack = room - size;
    if slack == 0 {
        return;
    }
    let (head, tail, word) = ends(p, room, slack);
    let mask = masks(slack)[1];
    // SAFETY: as for `write_new`.
    unsafe {
        let kept = tail.read_unaligned() & !mask;
        head.write_unaligned(word);
        tail.write_unaligned(kept | word & mask);
    }
}

/// True when nobody has written into the slack.
///
/// # Safety
/// The block has `room` bytes, and its canaries were written for these sizes.
#[inline]
pub unsafe fn is_intact(p: *const u8, room: usize, size: usize) -> bool {
    let slack = room - size;
    if slack == 0 {
        return true;
    }
    let ((head, tail, word), masks) = (ends(p, room, slack), masks(slack));
    // SAFETY: the caller's contract.
    unsafe {
        let wrong = |at: *const u64, mask: u64| (at.read_unaligned() ^ word) & mask;
        wrong(head, masks[0]) | wrong(tail, masks[1]) == 0
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

/// Bytes at each end of a block that are looked at when it is handed out; of a block twice as long, all of it.
const END: usize = 128;

/// True when the first and the last bytes of a block are zero.
///
/// # Safety
/// The block has `len` bytes, at a multiple of 16.
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
