//! Spans of other layers come back as clean, in the hardened build: what lay in them is in no block later.

use allod_os::vm;
use core::ptr;

/// Has whole units read as zero. True when they do.
///
/// # Safety
/// The units are the caller's, and nothing in them is used any more.
pub unsafe fn wipe(at: usize, len: usize) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        if !vm::purge(at, len) {
            ptr::write_bytes(at as *mut u8, 0, len);
        }
    }
    true
}
