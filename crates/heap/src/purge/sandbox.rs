//! Whether a seccomp filter is in force, which may kill a process for a system call that it does not allow.
//!
//! A filter that is announced stops the helper. One that a program sets for all its threads at once
//! (`SECCOMP_FILTER_FLAG_TSYNC`), by a bare system call, is not announced: the helper checks before
//! any system call that programs do not make all the time.

use allod_os::thread::is_sandboxed;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// True once a filter is known or expected.
static EXPECTED: AtomicBool = AtomicBool::new(false);

/// Notes that a filter is about to be installed.
pub fn expect() {
    EXPECTED.store(true, Relaxed);
}

/// True where a filter is known or expected.
pub fn is_expected() -> bool {
    EXPECTED.load(Relaxed)
}

/// The same, and looks for one now. Makes a system call.
pub fn is_there() -> bool {
    if !is_expected() && is_sandboxed() {
        expect();
    }
    is_expected()
}
