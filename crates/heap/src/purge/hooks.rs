//! Registering what the system calls around forks and at the end of threads.

use crate::purge::{fork, policy};
use crate::thread::attach;
use allod_os::thread;
use core::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Relaxed};

static PREPARED: AtomicBool = AtomicBool::new(false);

/// Registers the fork handlers and the thread-exit hook. At the latest with the first block that is
/// allocated, so before a library that has allocated can register fork handlers that take locks of its
/// own: those run before these then, and a thread that holds such a lock can still allocate. In
/// `liballod` also before anybody registers any (`capi/forks`).
#[inline]
pub fn prepare() {
    if !PREPARED.load(Relaxed) {
        register();
    }
}

#[cold]
fn register() {
    if !PREPARED.swap(true, AcqRel) {
        policy::prepare();
        attach::prepare();
        thread::at_fork(fork::before, fork::in_parent, fork::in_child);
    }
}
