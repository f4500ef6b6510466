//! Regions for other threads: frozen ones, which many read, and detached ones, which one takes over.

use crate::base::check::{CHECKED, wrong};
use crate::life::holding::share;
use crate::life::scope::check_owner;
use crate::memory::chunk;
use crate::memory::control::Control;
use allod_os::thread;
use core::sync::atomic::Ordering::Relaxed;

/// Makes a region read-only for good: nothing can be allocated in it, and stores into it are refused.
/// What it needs to be shared between threads. Owner only; idempotent.
///
/// # Safety
/// The calling thread owns `r`, which is not merged into another.
pub unsafe fn freeze(r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe {
        check_owner(r, "freeze");
        if (*r).frozen {
            return;
        }
        chunk::retire(r);
        (*r).first = (*r).cursor;
        (*r).limit = (*r).cursor;
        (*r).frozen = true;
        (*r).counts.set_extra();
        share(r);
    }
}

/// Prepares an open region, held by nothing else, to be handed to another thread: see [`adopt`].
/// False when references or tethers hold it, or when it depends on regions that are not shared.
///
/// # Safety
/// The calling thread owns `r`.
pub unsafe fn detach(r: *mut Control) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        let kept = (*r).kept.as_ref().map_or(&[][..], |kept| kept.some.as_slice());
        if kept.iter().any(|held| !(**held).frozen) {
            return false;
        }
        let free = (*r).parent.is_null()
            && (*r).heir.load(Relaxed).is_null()
            && !(*r).counts.is_shared()
            && (*r).counts.only_open();
        if free {
            (*r).counts.set_owner(0);
        }
        free
    }
}

/// Makes the calling thread the owner of a detached region.
///
/// # Safety
/// `r` was detached and reached this thread through a synchronising channel, once.
pub unsafe fn adopt(r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe {
        if CHECKED && !(*r).counts.is_owner(0) {
            wrong(format_args!("adopt of region {r:p}, which was not detached"));
        }
        (*r).counts.set_owner(thread::pointer());
    }
}
