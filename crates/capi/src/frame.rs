//! The functions declared in `allod/frame.h`; the header documents all and holds the fast path.

use crate::errno;
use allod_frame_core::raw::{self, RawArena, RawFrame};
use core::ptr::NonNull;
use libc::{c_int, c_void};

/// A new arena.
#[unsafe(no_mangle)]
pub extern "C" fn allod_arena_create() -> *mut RawArena {
    errno::or_enomem(raw::create().cast()).cast()
}

/// Gives an arena and all its memory back.
///
/// # Safety
/// The arena is null or live, and no frame of it is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_arena_destroy(arena: *mut RawArena) {
    // SAFETY: the caller's contract.
    unsafe { raw::destroy(arena) }
}

/// Gives an arena's chunks back.
///
/// # Safety
/// The arena is live, and no frame of it is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_arena_trim(arena: NonNull<RawArena>) {
    // SAFETY: the caller's contract.
    unsafe { raw::trim(arena) }
}

/// The bytes of an arena's chunks.
///
/// # Safety
/// The arena is live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_arena_reserved(arena: NonNull<RawArena>) -> usize {
    // SAFETY: the caller's contract.
    unsafe { raw::reserved(arena) }
}

/// The slow path of `allod_frame_alloc`.
///
/// # Safety
/// The frame is open, and `align` is a power of two.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_frame_grow(
    frame: &mut RawFrame,
    size: usize,
    align: usize,
) -> *mut c_void {
    // SAFETY: the caller's contract.
    errno::or_enomem(unsafe { frame.grow(size, align) }.cast())
}

/// The bytes a frame has used.
///
/// # Safety
/// The frame is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_frame_used(frame: &RawFrame) -> usize {
    // SAFETY: the caller's contract.
    unsafe { frame.used() }
}

/// Where the chunk behind the one that ends at `limit` begins and ends.
///
/// # Safety
/// The arena is live, and the limit one of its frames'.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_arena_next_chunk(
    arena: NonNull<RawArena>,
    limit: *mut u8,
    start: &mut *mut u8,
    end: &mut *mut u8,
) -> c_int {
    // SAFETY: the caller's contract.
    match unsafe { raw::next_chunk(arena, limit) } {
        Some(chunk) => {
            (*start, *end) = chunk;
            1
        }
        None => 0,
    }
}

/// Begins a frame in an arena of the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn allod_thread_frame_begin() -> RawFrame {
    let frame = RawFrame::begin_on_thread();
    errno::or_enomem(frame.arena.cast());
    frame
}

/// Ends the frame that this thread began last.
///
/// # Safety
/// The frame is one of `allod_thread_frame_begin`, ended once and in reverse order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_thread_frame_end(frame: &mut RawFrame) {
    // SAFETY: the caller's contract.
    unsafe { frame.end_on_thread() }
}
