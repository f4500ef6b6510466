//! Tells AddressSanitizer and valgrind's memcheck which memory may be used (features `asan` and
//! `valgrind`).
//!
//! In a program that does not run under them this costs a load, a branch, and a few instructions
//! that do nothing. On processors other than x86_64 and aarch64 it does nothing.
//!
//! May use: nothing of this crate.

#[cfg(feature = "asan")]
mod asan;
#[cfg(feature = "valgrind")]
mod memcheck;
#[cfg(not(all(feature = "asan", feature = "valgrind")))]
mod off;

#[cfg(not(feature = "asan"))]
use off as asan;
#[cfg(not(feature = "valgrind"))]
use off as memcheck;

/// Forbids use of this memory until it is allowed.
///
/// # Safety
/// Memory of a span that nobody uses.
#[inline]
pub unsafe fn forbid(start: *const u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        asan::forbid(start, bytes);
        memcheck::forbid(start, bytes);
    }
}

/// Allows use of this memory, which is uninitialised.
///
/// # Safety
/// Memory of a span.
#[inline]
pub unsafe fn allow(start: *const u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        asan::allow(start, bytes);
        memcheck::allow(start, bytes);
    }
}

/// Allows use of this memory, whose contents are kept.
///
/// # Safety
/// Memory of a span.
#[inline]
pub unsafe fn uncover(start: *const u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        asan::uncover(start, bytes);
        memcheck::uncover(start, bytes);
    }
}
