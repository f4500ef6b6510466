//! Registering the handlers that the system calls around forks and at thread exit.

use crate::purge::{fork, policy};
use crate::thread::attach;
use allod_os::thread;
use core::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Relaxed};

static PREPARED: AtomicBool = AtomicBool::new(false);

/// Registers the fork handlers and the thread-exit hook, at the latest with the first block that is
/// allocated. So a library that allocates first and then registers fork handlers that take locks of its own is
/// registered later: its handlers run before these, and a thread that holds such a lock can still allocate. In
/// `liballod` this also happens before anybody registers any (`capi/forks`).
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
