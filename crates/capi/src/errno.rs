//! Failure: `errno`, and the last words of a process that cannot go on.

pub(crate) use allod_os::errno::set;

use allod_os::io;
use core::fmt::{self, Write};
use core::ptr;
use libc::{ENOMEM, c_int, c_void};

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

/// Writes one message to standard error and aborts the process.
#[cold]
pub(crate) fn die(message: fmt::Arguments<'_>) -> ! {
    let _ = io::Fd::stderr().write_fmt(message);
    io::abort()
}
