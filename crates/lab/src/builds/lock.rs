//! One builder at a time for each place in the cache.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// A lock between processes, held until this is dropped or the process ends.
pub(super) struct Lock(#[expect(dead_code, reason = "the open file is the lock")] File);

impl Lock {
    /// Waits until nobody else holds the lock of this file.
    pub(super) fn take(path: &Path) -> io::Result<Self> {
        let file = File::options().create(true).append(true).open(path)?;
        // SAFETY: a plain system call on an open file.
        match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } {
            0 => Ok(Self(file)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
