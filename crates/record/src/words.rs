//! Messages on standard error.

use allod_os::io::Fd;
use core::fmt::{self, Write};

/// Writes one line to standard error.
#[cold]
pub(crate) fn say(message: fmt::Arguments<'_>) {
    let _ = writeln!(Fd::stderr(), "allod record: {message}");
}
