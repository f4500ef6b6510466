//! Tells AddressSanitizer and valgrind's memcheck which memory of a frame may be used.

use allod_frame_core::shadow;

/// Bytes after each block that may not be touched.
pub(super) const EXTRA: usize = 16;
/// Whether these features are on.
pub(super) const ON: bool = true;

/// A frame continues in a chunk: memory not allocated yet may not be used.
///
/// # Safety
/// Memory of a chunk that nobody uses.
pub(crate) unsafe fn chunk_begun(cursor: *mut u8, limit: *mut u8) {
    // SAFETY: the caller's contract.
    unsafe { shadow::forbid(cursor, limit.addr() - cursor.addr()) };
}

/// A block was allocated: with the aids' bytes after it, it may be used, and is uninitialised.
///
/// # Safety
/// A block of the frame and its room.
pub(super) unsafe fn made(block: *mut u8, _size: usize, room: usize) {
    // SAFETY: the caller's contract.
    unsafe { shadow::allow(block, room) };
}

/// A block changed its size: gained bytes are uninitialised.
///
/// # Safety
/// A block of the frame and its new room.
pub(super) unsafe fn resized(block: *mut u8, _size: usize, room: usize) {
    // SAFETY: the caller's contract.
    unsafe { shadow::uncover(block, room) };
}

/// The bytes after a block may not be touched.
///
/// # Safety
/// A block of the frame and its room.
pub(super) unsafe fn guarded(block: *mut u8, size: usize, room: usize) {
    // SAFETY: the caller's contract.
    unsafe { shadow::forbid(block.add(size), room - size) };
}

/// An aid reads memory, which may be forbidden.
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
