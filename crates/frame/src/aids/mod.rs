//! Debug aids: making misuse of a frame's memory visible.
//!
//! Safe code cannot misuse a frame. These are for unsafe code that keeps a pointer too long or
//! miscounts:
//!
//! | aid | detects | when |
//! | --- | --- | --- |
//! | poison | use after the frame's end, as [`POISON`] bytes | debug builds |
//! | `canaries` | writes past an allocation's end | feature `canaries`, at the frame's end |
//! | `shadow` | both, at the access itself | features `asan`, `valgrind`, in programs run under these |
//!
//! ```text
//!  block          canary (feature `canaries`)                        next block
//!  | size bytes | 0xCA to the next multiple of 8, and 16 more | record |
//!                 not to be touched (`asan`, `valgrind`)
//! ```
//!
//! When all are off every function here is empty, and `EXTRA` and `Start` have no size.

#[cfg(feature = "canaries")]
#[path = "canaries.rs"]
mod canaries;
#[cfg(not(feature = "canaries"))]
#[path = "canaries_off.rs"]
mod canaries;
#[cfg(any(feature = "asan", feature = "valgrind"))]
#[path = "shadow.rs"]
mod shadow;
#[cfg(not(any(feature = "asan", feature = "valgrind")))]
#[path = "shadow_off.rs"]
mod shadow;
#[cfg(any(debug_assertions, feature = "canaries", feature = "asan", feature = "valgrind"))]
#[path = "start.rs"]
mod start;
#[cfg(not(any(debug_assertions, feature = "canaries", feature = "asan", feature = "valgrind")))]
#[path = "start_off.rs"]
mod start;

pub(crate) use shadow::chunk_begun;
pub(crate) use start::Start;

use crate::located::Here;
use allod_frame_core::chunk::{self, Core};
use core::alloc::Layout;
use core::ptr::NonNull;

/// A position of a frame: cursor and limit.
pub(crate) type Position = (*mut u8, *mut u8);

/// The byte that debug builds write over memory whose frame has ended.
#[cfg(debug_assertions)]
pub(crate) const POISON: u8 = 0xF7;

/// Bytes that aids keep after each block.
const EXTRA: usize = [shadow::EXTRA, canaries::EXTRA][cfg!(feature = "canaries") as usize];
/// The alignment that they need.
const ALIGN: usize = 8;

/// What a block of a layout takes in the frame, and how it is aligned.
#[inline(always)]
pub(crate) fn room(size: usize, align: usize) -> (usize, usize) {
    if EXTRA == 0 {
        return (padded(size, align), align);
    }
    let align = if align > ALIGN { align } else { ALIGN };
    (padded(padded(size, ALIGN) + EXTRA, align), align)
}

/// A size rounded up to a multiple of an alignment; cannot overflow for the parts of a layout.
#[inline(always)]
pub(crate) fn padded(size: usize, align: usize) -> usize {
    size.wrapping_add(align - 1) & !(align - 1)
}

/// A block was made; the frame's cursor was `before`.
///
/// # Safety
/// The frame, of this core, has `room(size)` bytes at `block`.
#[inline(always)]
pub(crate) unsafe fn made(
    core: NonNull<Core>,
    before: *mut u8,
    block: NonNull<u8>,
    size: usize,
    room: usize,
    here: Here,
) {
    // SAFETY: the caller's contract.
    unsafe {
        shadow::made(block.as_ptr(), size, room);
        canaries::write(core, before, block.as_ptr(), size, room, here);
        shadow::guarded(block.as_ptr(), size, room);
    }
}

/// The newest block, which ends at `cursor`, changes its layout and room in place.
///
/// # Safety
/// It is the newest block, and the frame has the room.
#[inline(always)]
pub(crate) unsafe fn resized(cursor: *mut u8, block: *mut u8, layout: Layout, room: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        shadow::looked_at(block, cursor);
        let record = canaries::take(cursor);
        shadow::resized(block, layout.size(), room);
        canaries::put(record, block, layout.size(), room);
        shadow::guarded(block, layout.size(), room);
    }
}

/// The newest block is given back; where the cursor goes.
///
/// # Safety
/// It is the newest block, ends at `cursor`, and is not used any more.
#[cfg(feature = "allocator-api2")]
#[inline(always)]
pub(crate) unsafe fn freed(cursor: *mut u8, block: *mut u8) -> *mut u8 {
    // SAFETY: the caller's contract.
    unsafe {
        shadow::looked_at(block, cursor);
        let before = canaries::before(cursor, block);
        shadow::ended(before, cursor.addr() - before.addr());
        before
    }
}

/// A block is free within the frame: only its first word may be touched.
///
/// # Safety
/// A block of a frame that nobody uses, of at least a word.
#[cfg(feature = "allocator-api2")]
#[inline(always)]
pub(crate) unsafe fn waits(block: *mut u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe { shadow::ended(block.add(size_of::<usize>()), bytes - size_of::<usize>()) };
}

/// A free block is reused.
///
/// # Safety
/// As for [`waits`].
#[cfg(feature = "allocator-api2")]
#[inline(always)]
pub(crate) unsafe fn used_again(block: *mut u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe { shadow::made(block, bytes, bytes) };
}

/// A frame's work is done, but its memory stays.
///
/// # Panics
/// When a canary was overwritten.
///
/// # Safety
/// Both are positions of frames of `core`, the first not behind the second.
#[inline(always)]
pub(crate) unsafe fn kept(core: NonNull<Core>, from: Position, to: Position) {
    // SAFETY: the caller's contract.
    unsafe { canaries::check(core, from, to) }.report();
}

/// A frame, or a part of it, is over; its memory may be reused from the returned position on.
///
/// # Panics
/// When a canary was overwritten.
///
/// # Safety
/// As for [`kept`], and nothing between the positions is used any more.
#[inline(always)]
pub(crate) unsafe fn ended(core: NonNull<Core>, from: Position, to: Position) -> Position {
    // SAFETY: the caller's contract; `check` moves the start to where a block begins or ends.
    unsafe {
        let checked = canaries::check(core, from, to);
        let from = checked.position(from);
        overwrite(core, from, to);
        checked.report();
        from
    }
}

/// Overwrites the memory between two positions in debug builds, and forbids its use.
///
/// # Safety
/// As for [`ended`].
#[inline(always)]
unsafe fn overwrite(core: NonNull<Core>, from: Position, to: Position) {
    if !cfg!(debug_assertions) && !shadow::ON {
        return;
    }
    let (mut cursor, mut limit) = from;
    // SAFETY: memory of this arena's chunks that nobody uses.
    unsafe {
        while limit != to.1 {
            if limit != chunk::empty() {
                over(cursor, limit.addr() - cursor.addr());
            }
            let chunk = Core::after(core, limit);
            (cursor, limit) = (chunk::start_of(chunk), chunk.cast());
        }
        over(cursor, to.0.addr() - cursor.addr());
    }
}

/// One piece of memory is over.
///
/// # Safety
/// Memory that nobody uses.
unsafe fn over(start: *mut u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        #[cfg(debug_assertions)]
        {
            shadow::looked_at(start, start.add(bytes));
            start.write_bytes(POISON, bytes);
        }
        shadow::ended(start, bytes);
    }
}
