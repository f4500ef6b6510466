//! Whether calls are recorded now.

use crate::output;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use libc::c_void;

/// A word that is 1 while calls are recorded. It is in a page that the system clears in every
/// forked child, however it was made: a child never writes into its parent's file.
static ON: AtomicPtr<AtomicU32> = AtomicPtr::new((&raw const NEVER).cast_mut());
static NEVER: AtomicU32 = AtomicU32::new(0);

/// Whether calls are recorded.
#[inline]
pub(crate) fn is_on() -> bool {
    // SAFETY: the pointer leads to a static word, or to a page that is never given back.
    unsafe { (*ON.load(Ordering::Relaxed)).load(Ordering::Relaxed) != 0 }
}

/// The word that a recording sets when it has begun; `None` if there is no memory for it.
pub(crate) fn word_that_forks_lose() -> Option<&'static AtomicU32> {
    let known = ON.load(Ordering::Relaxed);
    if known.cast_const() != &raw const NEVER {
        // SAFETY: the page below is never given back.
        return Some(unsafe { &*known });
    }
    let length = allod_os::vm::page_size();
    let page = allod_os::vm::map_block(length)?;
    // SAFETY: advice on a page that was just mapped. An older system does not know it; then the
    // handler for forks has to do.
    unsafe { libc::madvise(page as *mut c_void, length, libc::MADV_WIPEONFORK) };
    let word = page as *mut AtomicU32;
    ON.store(word, Ordering::Relaxed);
    // SAFETY: a zeroed page holds a zero word, and it is never given back.
    Some(unsafe { &*word })
}

/// Stops recording. Returns whether anything was being recorded.
pub(crate) fn off() -> bool {
    // SAFETY: as in `is_on`.
    unsafe { (*ON.load(Ordering::Relaxed)).swap(0, Ordering::SeqCst) != 0 }
}

/// Ends the recording because the file cannot grow; its contents stay.
#[cold]
pub(crate) fn give_up(code: i32) {
    if off() {
        output::complain("cannot take more events; the recording ends here", code);
    }
}
