//! Failure: `errno`, and messages to standard error without allocating.

use core::fmt::{self, Write};
use core::ptr;
use libc::{ENOMEM, c_int, c_void};

/// Sets `errno` of the calling thread.
pub(crate) fn set(code: c_int) {
    // SAFETY: errno's address is always valid in the calling thread.
    unsafe { *libc::__errno_location() = code };
}

/// The block as C sees it; null sets `errno` to `ENOMEM` first.
///
/// Inlined so that the test for null folds into the heap's own, and success is a straight line.
#[inline(always)]
pub(crate) fn or_enomem(block: *mut u8) -> *mut c_void {
    if block.is_null() { fail(ENOMEM) } else { block.cast() }
}

/// Sets `errno` and returns null.
#[cold]
#[inline(never)]
pub(crate) fn fail(code: c_int) -> *mut c_void {
    set(code);
    ptr::null_mut()
}

/// A file descriptor that can be written to with `write!`, unbuffered and without allocating.
pub(crate) struct Fd(pub(crate) c_int);

impl Write for Fd {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            // SAFETY: `rest` is readable memory of the given length.
            let written = unsafe { libc::write(self.0, rest.as_ptr().cast(), rest.len()) };
            match usize::try_from(written) {
                Ok(count) if count > 0 => rest = &rest[count..],
                _ => return Err(fmt::Error),
            }
        }
        Ok(())
    }
}

/// Writes one message to standard error and aborts the process.
#[cold]
pub(crate) fn die(message: fmt::Arguments<'_>) -> ! {
    let _ = Fd(libc::STDERR_FILENO).write_fmt(message);
    // SAFETY: abort has no preconditions.
    unsafe { libc::abort() }
}
