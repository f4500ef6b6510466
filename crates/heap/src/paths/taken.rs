//! Handing out a block of a slab, in the hardened build.
//!
//! ```text
//!   front cache ─▶ all zero? ─▶ canaries, "live" in the table ─▶ the program
//! ```

use crate::base::zeros::{BOTH_ENDS, has_zero_ends, is_zero};
use crate::map::blocks::{self, Entry, Origin, State};
use crate::map::stacks;
use crate::paths::canary;
use crate::paths::freed::written_when_free;

/// Makes a block of a slab the program's: finds out who wrote to it while it was free. Ends with calls that return for
/// it, so that it saves no registers.
///
/// # Safety
/// `block` is new and of `room` bytes.
#[inline]
pub unsafe fn hand_out(block: *mut u8, room: usize, size: usize, origin: Origin) -> *mut u8 {
    // SAFETY: the caller's contract.
    unsafe {
        let whole = room <= BOTH_ENDS || blocks::at(block).is(State::Held);
        if !(if whole { is_zero(block, room) } else { has_zero_ends(block, room) }) {
            return hand_out_written(block, room, size, origin);
        }
        canary::write_new(block, room, size);
        note_long_slack(block, room, size);
        blocks::set(block, Entry::live(room - size).asked_by(origin));
    }
    stacks::note_taken(block)
}

/// The same for a block that was written to while it was free.
#[cold]
#[inline(never)]
unsafe fn hand_out_written(block: *mut u8, room: usize, size: usize, origin: Origin) -> *mut u8 {
    // SAFETY: the caller's block.
    unsafe {
        written_when_free("malloc", block, room);
        hand_out(block, room, size, origin)
    }
}

/// The same for a block, or null.
///
/// # Safety
/// `block` is null, or new and of `room` bytes.
pub unsafe fn hand_out_or_null(
    block: *mut u8,
    room: usize,
    size: usize,
    origin: Origin,
) -> *mut u8 {
    // SAFETY: the caller's contract.
    if block.is_null() { block } else { unsafe { hand_out(block, room, size, origin) } }
}

/// Writes the size into the slack of a block where the table has no room for it.
///
/// # Safety
/// The block is the caller's, of `room` bytes.
#[inline]
pub unsafe fn note_long_slack(block: *mut u8, room: usize, size: usize) {
    if room - size >= Entry::MOST_SLACK {
        // SAFETY: the caller's contract. In so long a slack, the word before the tail is slack, too.
        unsafe { blocks::size_word(block, room).write(size) };
    }
}
