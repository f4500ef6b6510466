//! In the hardened build, spans of other layers are wiped when they are returned, so that their contents never
//! show up in a block.

use allod_os::vm;
use core::ptr;

/// Makes whole units read as zero. True when that succeeded.
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
