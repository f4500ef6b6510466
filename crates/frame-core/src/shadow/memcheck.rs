//! Valgrind's memcheck is told which memory may be used.

use allod_os::valgrind::{code, request};

// Requests of memcheck (`valgrind/memcheck.h`).
const NO_ACCESS: usize = code(*b"MC", 0);
const UNDEFINED: usize = code(*b"MC", 1);
const DEFINED: usize = code(*b"MC", 2);

/// Tells of memory.
///
/// # Safety
/// What is told must be true: memcheck reports uses of memory that it takes for forbidden.
#[inline(always)]
unsafe fn tell(what: usize, start: *const u8, bytes: usize) {
    // SAFETY: the three requests tell of memory and change none.
    unsafe { request([what, start.addr(), bytes, 0, 0, 0]) }
}

/// Nobody may use this memory.
///
/// # Safety
/// As for [`super::forbid`].
#[inline(always)]
pub(super) unsafe fn forbid(start: *const u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe { tell(NO_ACCESS, start, bytes) }
}

/// This memory may be used, and is not initialised.
///
/// # Safety
/// As for [`super::allow`].
#[inline(always)]
pub(super) unsafe fn allow(start: *const u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe { tell(UNDEFINED, start, bytes) }
}

/// This memory may be used, and holds what it held.
///
/// # Safety
/// As for [`super::uncover`].
#[inline(always)]
pub(super) unsafe fn uncover(start: *const u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe { tell(DEFINED, start, bytes) }
}
