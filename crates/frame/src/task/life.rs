//! From an idle arena to a task's, and back.

use super::idle;
use super::shared::Shared;
use crate::error::OutOfMemory;
use core::ptr::NonNull;

/// An idle arena, or a new one, with an open frame.
pub(super) fn open() -> Result<NonNull<Shared>, OutOfMemory> {
    let shared = idle::take().map_or_else(Shared::new, Ok)?;
    // SAFETY: idle or new, so ours alone.
    unsafe { Shared::begin(shared) };
    Ok(shared)
}

/// Ends the frame, and the arena becomes idle.
///
/// # Safety
/// Neither owner nor handles are left.
#[cold]
pub(super) unsafe fn end(shared: NonNull<Shared>) {
    /// Even if a registered drop panics.
    struct PutBack(NonNull<Shared>);
    impl Drop for PutBack {
        fn drop(&mut self) {
            idle::put(self.0);
        }
    }
    let back = PutBack(shared);
    // SAFETY: the caller's contract.
    unsafe { Shared::end(back.0) };
}

/// Gives a handle up.
///
/// # Safety
/// The handle is the caller's; `open_here` says whether the arena is open on this thread.
#[inline]
pub(super) unsafe fn release(shared: NonNull<Shared>, open_here: bool) {
    // SAFETY: the handle kept the arena until now; without owner and handles nobody uses it.
    unsafe {
        if open_here {
            shared.as_ref().count.change_here(-1);
        } else if shared.as_ref().count.sub() {
            end(shared);
        }
    }
}
