//! Writing text to a file descriptor without the C library's buffers, and ending the process.

use crate::errno::{self, keeping_errno};
use core::fmt;

/// A writer to a file descriptor that collects up to 512 bytes, so that a line goes out whole.
///
/// Keeps `errno`; errors of the descriptor are ignored, because there is nobody to report them to.
pub struct Fd {
    fd: i32,
    used: usize,
    bytes: [u8; 512],
}

impl Fd {
    /// A writer to file descriptor `fd`, which it does not close.
    pub fn new(fd: i32) -> Fd {
        Fd { fd, used: 0, bytes: [0; 512] }
    }

    /// A writer to standard error.
    pub fn stderr() -> Fd {
        Fd::new(2)
    }

    fn flush(&mut self) {
        let mut rest = &self.bytes[..self.used];
        keeping_errno(|| {
            while !rest.is_empty() {
                // SAFETY: write reads only the slice.
                let n = unsafe { libc::write(self.fd, rest.as_ptr().cast(), rest.len()) };
                match n {
                    1.. => rest = &rest[n as usize..],
                    // A signal came first, and nothing was written.
                    -1 if errno::get() == libc::EINTR => {}
                    _ => break,
                }
            }
        });
        self.used = 0;
    }
}

impl fmt::Write for Fd {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        for &b in s.as_bytes() {
            if self.used == self.bytes.len() {
                self.flush();
            }
            self.bytes[self.used] = b;
            self.used += 1;
        }
        Ok(())
    }
}

impl Drop for Fd {
    fn drop(&mut self) {
        self.flush();
    }
}

/// A copy of standard error that stays open when the program closes its own; 2 if copying fails.
pub fn keep_stderr() -> i32 {
    // SAFETY: fcntl on a descriptor number touches no memory.
    let fd = unsafe { libc::fcntl(2, libc::F_DUPFD_CLOEXEC, 200) };
    if fd < 0 { 2 } else { fd }
}

/// True when a file descriptor is open.
pub fn is_open(fd: i32) -> bool {
    // SAFETY: fcntl on a descriptor number touches no memory.
    keeping_errno(|| unsafe { libc::fcntl(fd, libc::F_GETFD) >= 0 })
}

/// Ends the process as `abort` does (SIGABRT).
pub fn abort() -> ! {
    // SAFETY: abort has no preconditions.
    unsafe { libc::abort() }
}

/// Ends the process as a return from `main` does, with status 0.
pub fn exit() -> ! {
    // SAFETY: exit has no preconditions but that no other call of it is under way.
    unsafe { libc::exit(0) }
}

/// The number of this process.
pub fn pid() -> u32 {
    // SAFETY: getpid cannot fail.
    unsafe { libc::getpid() as u32 }
}
