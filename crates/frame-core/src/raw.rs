//! Frames without lifetimes, for the C header.
//!
//! The layout of [`RawFrame`] and of the arena's first two words is that of `allod/frame.h`; the
//! fast path is in the header, everything rare is here.

use crate::chunk::{self, Core, distance, grow};
use crate::thread::{Taken, put_back_forgotten};
use core::mem::forget;
use core::ptr::{self, NonNull};

/// The arena as C sees it.
pub type RawArena = Core;

/// An open frame, `allod_frame` in C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawFrame {
    /// The next free byte.
    pub cursor: *mut u8,
    /// The end of the chunk's memory.
    pub limit: *mut u8,
    /// The arena.
    pub arena: *mut RawArena,
}

/// A new arena; null when memory is out.
#[must_use]
pub fn create() -> *mut RawArena {
    Core::create().map_or(ptr::null_mut(), NonNull::as_ptr)
}

/// Frees an arena; null is ignored.
///
/// # Safety
/// The arena is live, no frame of it is open, and nothing in it is used.
pub unsafe fn destroy(arena: *mut RawArena) {
    if let Some(core) = NonNull::new(arena) {
        // SAFETY: the caller's contract.
        unsafe { Core::destroy(core) };
    }
}

/// Gives an arena's chunks back.
///
/// # Safety
/// As for [`destroy`], and the arena is not null.
pub unsafe fn trim(arena: NonNull<RawArena>) {
    // SAFETY: the caller's contract.
    unsafe { Core::trim(arena) }
}

/// Bytes of an arena's chunks.
///
/// # Safety
/// The arena is live.
#[must_use]
pub unsafe fn reserved(arena: NonNull<RawArena>) -> usize {
    // SAFETY: the caller's contract.
    unsafe { arena.as_ref() }.reserved
}

/// Where the chunk after the one that ends at `limit` begins and ends.
///
/// # Safety
/// The arena is live, and the limit one of its frames'.
#[must_use]
pub unsafe fn next_chunk(arena: NonNull<RawArena>, limit: *mut u8) -> Option<(*mut u8, *mut u8)> {
    // SAFETY: the caller's contract.
    unsafe {
        let chunk = Core::after(arena, limit);
        (!chunk.is_null()).then(|| (chunk::start_of(chunk), chunk.cast()))
    }
}

impl RawFrame {
    /// The slow path; null when memory is out.
    ///
    /// # Safety
    /// The frame is open, and `align` is a power of two.
    pub unsafe fn grow(&mut self, size: usize, align: usize) -> *mut u8 {
        let Some(core) = NonNull::new(self.arena) else { return ptr::null_mut() };
        // SAFETY: the caller's contract: the limit is one of the arena's.
        let Some(grown) = (unsafe { grow(core, self.limit, size, align) }) else {
            return ptr::null_mut();
        };
        self.cursor = grown.cursor;
        self.limit = grown.limit;
        grown.block.as_ptr()
    }

    /// Bytes used up to here.
    ///
    /// # Safety
    /// The frame is open.
    #[must_use]
    pub unsafe fn used(&self) -> usize {
        // SAFETY: the caller's contract.
        unsafe {
            if self.limit == chunk::empty() {
                return 0;
            }
            let start = ((*self.arena).cursor, (*self.arena).limit);
            distance(NonNull::new_unchecked(self.arena), start, (self.cursor, self.limit))
        }
    }

    /// Begins a frame in an arena of the calling thread; its arena is null when memory is out.
    #[must_use]
    pub fn begin_on_thread() -> RawFrame {
        let null = ptr::null_mut();
        let Ok(taken) = Taken::take() else {
            return RawFrame { cursor: null, limit: null, arena: ptr::null_mut() };
        };
        let core = taken.core().as_ptr();
        forget(taken);
        // SAFETY: the arena was taken out of the thread's list.
        unsafe { RawFrame { cursor: (*core).cursor, limit: (*core).limit, arena: core } }
    }

    /// Ends a frame of [`begin_on_thread`](RawFrame::begin_on_thread).
    ///
    /// # Safety
    /// The frame was begun by this thread last and is ended once.
    pub unsafe fn end_on_thread(&mut self) {
        if let Some(core) = NonNull::new(self.arena) {
            // SAFETY: the caller's contract: the arena is out of the thread's list.
            unsafe { put_back_forgotten(core) };
        }
        self.arena = ptr::null_mut();
    }
}
