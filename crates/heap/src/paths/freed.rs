//! What becomes of a block of a slab that was freed, in the hardened build.
//!
//! ```text
//!   held in the table, cleared ─▶ quarantine ─▶ front cache, or mail to its owner
//! ```
//! It stays held until it is handed out again, which is when all of it is looked at. Only one with pages of its own is
//! looked at as it leaves quarantine, because later its pages may be gone.

use crate::base::zeros::{SPARSE, clear, clear_touched, expect, is_zero};
use crate::heap::heap::Heap;
use crate::map::blocks::{self, Entry, State};
use crate::map::misuse::{Misuse, misuse};
use crate::map::stacks;
use crate::paths::{fast, release};

/// Makes a live block a held one, and clears it.
///
/// # Safety
/// The block is of a slab, nobody uses it any more, and `entry` is what the table says of it.
#[inline(always)]
pub unsafe fn hold(p: *mut u8, room: usize, entry: Entry) {
    // SAFETY: the caller's contract.
    unsafe {
        blocks::set(p, entry.turned(State::Held));
        stacks::note_freed(p);
        if room < SPARSE { clear(p, room) } else { clear_touched(p, room) }
    }
}

/// Has a held block wait in the calling thread's quarantine, and lets those go that have waited long enough.
///
/// # Safety
/// `me` is the thread's own heap, the block of `room` bytes.
#[inline(always)]
pub unsafe fn wait(me: *mut Heap, p: *mut u8, room: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        if room >= SPARSE {
            return wait_long(me, p, room);
        }
        let old = Heap::quarantine(me).small.exchange(p, room);
        if !old.is_null() {
            expect(old);
            let_go(old);
        }
    }
}

/// [`wait`] for a block with pages of its own: who wrote to one while it waited is found out as it leaves.
#[inline(never)]
unsafe fn wait_long(me: *mut Heap, p: *mut u8, room: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        if !Heap::quarantine(me).long.take_in(p, room) {
            return let_go(p);
        }
        while let Some((old, room)) = Heap::quarantine(me).long.leave() {
            look_at_long(old, room);
            let_go(old);
        }
    }
}

/// Finds out who wrote to a block of `room` bytes that has waited, while its pages are there.
unsafe fn look_at_long(p: *mut u8, room: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        if !is_zero(p, room) {
            written_when_free("free", p, room);
        }
        blocks::set(p, Entry::live(0).turned(State::None));
    }
}

/// Returns a block to the heap that it came from.
///
/// # Safety
/// The block is free for the program, and in no quarantine.
#[inline(always)]
pub unsafe fn let_go(p: *mut u8) {
    // SAFETY: the caller's contract.
    unsafe { fast::free_or(p, release::free) }
}

/// Reports that a free block was written to, and clears it.
///
/// # Safety
/// `room` bytes at `block` are nobody's.
#[cold]
pub unsafe fn written_when_free(function: &'static str, block: *mut u8, room: usize) {
    misuse(function, block, Misuse::WrittenWhenFree);
    // SAFETY: the caller's block.
    unsafe { clear(block, room) };
}
