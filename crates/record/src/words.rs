//! Messages on standard error, and `errno`.

use allod_os::io::Fd;
use core::fmt::{self, Write};

/// Writes one line to standard error.
#[cold]
pub(crate) fn say(message: fmt::Arguments<'_>) {
    let _ = writeln!(Fd::stderr(), "allod record: {message}");
}

/// Runs `f` and puts `errno` back as it was.
pub(crate) fn keeping_errno<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: errno's address is always valid in the calling thread.
    unsafe {
        let errno = *libc::__errno_location();
        let result = f();
        *libc::__errno_location() = errno;
        result
    }
}

/// The current `errno`.
pub(crate) fn errno() -> i32 {
    // SAFETY: errno's address is always valid in the calling thread.
    unsafe { *libc::__errno_location() }
}
