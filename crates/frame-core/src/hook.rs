//! The hook for the end of threads: registered once, even if a fork intervenes.

use allod_os::thread::{ExitHook, pause};
use core::ffi::c_void;
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

static HOOK: ExitHook = ExitHook::new();
/// Whether the hook is registered: `NOT_YET`, `BEING` or `REGISTERED`.
static HOOKED: AtomicU8 = AtomicU8::new(NOT_YET);
const NOT_YET: u8 = 0;
const BEING: u8 = 1;
const REGISTERED: u8 = 2;

/// Arranges that `exit` is called with `value` when the calling thread ends. All callers pass the same
/// function; the first call registers it, and concurrent threads wait.
pub(crate) fn at_exit(exit: unsafe extern "C" fn(*mut c_void), value: usize) {
    if HOOKED.compare_exchange(NOT_YET, BEING, Acquire, Acquire).is_ok() {
        HOOK.register(exit);
        HOOKED.store(REGISTERED, Release);
    }
    while HOOKED.load(Acquire) == BEING {
        pause(1);
    }
    HOOK.arm(value);
}

/// In a child process, the thread that was registering the hook does not exist.
pub(crate) fn in_child() {
    if HOOKED.load(Relaxed) == BEING {
        HOOKED.store(NOT_YET, Relaxed);
    }
}
