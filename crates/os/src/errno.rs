//! `errno` of the calling thread, which calls of the C library change.

use libc::c_int;

/// Its value.
#[inline]
pub fn get() -> c_int {
    // SAFETY: errno's address is always valid in the calling thread.
    unsafe { *libc::__errno_location() }
}

/// Sets it.
#[inline]
pub fn set(code: c_int) {
    // SAFETY: errno's address is always valid in the calling thread.
    unsafe { *libc::__errno_location() = code };
}

/// Runs `f` and puts `errno` back as it was: allocation that succeeds in the end leaves it alone.
#[inline]
pub fn keeping_errno<R>(f: impl FnOnce() -> R) -> R {
    let before = get();
    let r = f();
    set(before);
    r
}
