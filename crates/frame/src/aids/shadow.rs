//! AddressSanitizer and valgrind's memcheck are told which memory of a frame may be used.

use allod_frame_core::shadow;

/// Bytes behind each block that may not be touched.
pub(super) const EXTRA: usize = 16;
/// Whether anybody is told.
pub(super) const ON: bool = true;

/// A frame goes on in a chunk: what it has not allocated may not be used.
///
/// # Safety
/// Memory of a chunk that nobody uses.
pub(crate) unsafe fn chunk_begun(cursor: *mut u8, limit: *mut u8) {
    // SAFETY: the caller's contract.
    unsafe { shadow::forbid(cursor, limit.addr() - cursor.addr()) };
}

/// A block was made: with what the aids keep behind it, it may be used, and is not initialised.
///
/// # Safety
/// A block of the frame and its room.
pub(super) unsafe fn made(block: *mut u8, _size: usize, room: usize) {
    // SAFETY: the caller's contract.
    unsafe { shadow::allow(block, room) };
}

/// A block changed its size: what it gained is not initialised.
///
/// # Safety
/// A block of the frame and its new room.
pub(super) unsafe fn resized(block: *mut u8, _size: usize, room: usize) {
    // SAFETY: the caller's contract.
    unsafe { shadow::uncover(block, room) };
}

/// What lies behind a block may not be touched.
///
/// # Safety
/// A block of the frame and its room.
pub(super) unsafe fn guarded(block: *mut u8, size: usize, room: usize) {
    // SAFETY: the caller's contract.
    unsafe { shadow::forbid(block.add(size), room - size) };
}

/// An aid looks at memory, which may be forbidden.
///
/// # Safety
/// Memory of a frame.
pub(super) unsafe fn looked_at(start: *mut u8, end: *mut u8) {
    // SAFETY: the caller's contract.
    unsafe { shadow::uncover(start, end.addr() - start.addr()) };
}

/// Memory may not be used any more.
///
/// # Safety
/// Memory of a frame that nobody uses.
pub(super) unsafe fn ended(start: *mut u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe { shadow::forbid(start, bytes) };
}
