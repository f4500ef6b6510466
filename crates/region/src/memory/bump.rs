//! Allocation's fast path.

use crate::data::record::round_up;
use crate::memory::chunk;
use crate::memory::control::Control;
use allod_heap::layout::UNIT;
use core::ptr;

/// Takes `size` bytes, a multiple of 8, aligned to 8. Null when memory is out.
///
/// The straight line is one compare; a constant `size` becomes an immediate operand.
///
/// # Safety
/// `r` is a region whose scope is open, owned by the calling thread; `size` is a multiple of 8 and at
/// most `PTRDIFF_MAX`.
#[inline(always)]
pub unsafe fn bump(r: *mut Control, size: usize) -> *mut u8 {
    // SAFETY: the caller's contract; the new cursor stays within the limit.
    unsafe {
        let p = (*r).cursor;
        if size > ((*r).limit as usize) - (p as usize) {
            return chunk::bump_slow(r, size);
        }
        (*r).cursor = p.add(size);
        // Saves the callers a test for null on the fast path.
        core::hint::assert_unchecked(!p.is_null());
        p
    }
}

/// Takes `size` bytes at a multiple of `align`, a power of two up to 64 KiB. Null when memory is out,
/// `size` exceeds `PTRDIFF_MAX` or `align` 64 KiB.
///
/// # Safety
/// `r` is a region whose scope is open, owned by the calling thread.
#[inline]
pub unsafe fn bump_aligned(r: *mut Control, size: usize, align: usize) -> *mut u8 {
    debug_assert!(align.is_power_of_two());
    let Some(size) = round_up(size) else { return ptr::null_mut() };
    // SAFETY: the caller's contract.
    unsafe {
        if align <= 8 {
            return bump(r, size);
        }
        if align > UNIT {
            return ptr::null_mut();
        }
        let p = (*r).cursor;
        let pad = (p as usize).wrapping_neg() & (align - 1);
        let room = (*r).limit as usize - p as usize;
        if pad > room || size > room - pad {
            return chunk::bump_aligned_slow(r, size, align);
        }
        (*r).cursor = p.add(pad + size);
        p.add(pad)
    }
}
