//! `errno`, which calls of the C library change.

/// Runs `f` and puts `errno` back as it was: allocation that succeeds in the end leaves it alone.
pub fn keeping_errno<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: errno's address is always valid in the calling thread.
    unsafe {
        let errno = *libc::__errno_location();
        let r = f();
        *libc::__errno_location() = errno;
        r
    }
}
