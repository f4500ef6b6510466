//! Clearing blocks in the hardened build without calling `memset`, which may be the checked one of
//! `liballod-hardened.so`: that refuses to touch a block that is not in use.

use core::arch::asm;

/// From this many bytes on, the processor's string store (`rep stos`) is the fastest.
#[cfg(target_arch = "x86_64")]
const LONG: usize = 512;

/// Writes zeros.
///
/// # Safety
/// `len` bytes at `p`, a multiple of 16 each, are the caller's to write.
#[cfg(target_arch = "x86_64")]
#[inline]
pub unsafe fn clear(p: *mut u8, len: usize) {
    if len < LONG {
        // SAFETY: the caller's contract.
        return unsafe { clear_short(p, len) };
    }
    // SAFETY: the instruction writes `len` zeros from `p` on; the direction flag is clear at every call.
    unsafe {
        asm!("rep stosb", inout("rcx") len => _, inout("rdi") p => _, in("al") 0u8,
            options(nostack, preserves_flags));
    }
}

/// Writes zeros.
///
/// # Safety
/// `len` bytes at `p`, a multiple of 16 each, are the caller's to write.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub unsafe fn clear(p: *mut u8, len: usize) {
    // SAFETY: the caller's contract.
    unsafe { clear_short(p, len) }
}

/// Writes zeros, 16 bytes at a time.
///
/// # Safety
/// As for [`clear`].
#[inline]
unsafe fn clear_short(p: *mut u8, len: usize) {
    let (mut at, end) = (p.cast::<u128>(), p.wrapping_add(len).cast::<u128>());
    while at < end {
        // SAFETY: the caller's contract. What the assembly might read keeps the loop from becoming a call of
        // `memset`.
        unsafe {
            at.write(0);
            asm!("/* {0} */", in(reg) at, options(nostack, preserves_flags));
            at = at.add(1);
        }
    }
}
