//! Asymmetric memory barriers: one side is nearly free, and the other, rare one pays for both.
//!
//! Between two threads that each write one word and then read the other's, a [`light_barrier`] in one and a
//! [`heavy_barrier`] in the other do what a full barrier in each would.

use crate::errno::keeping_errno;
use core::sync::atomic::{AtomicBool, Ordering, compiler_fence};

const PRIVATE_EXPEDITED: libc::c_long = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: libc::c_long = 1 << 4;

static REGISTERED: AtomicBool = AtomicBool::new(false);

/// Keeps the compiler from moving memory accesses across; costs no instruction.
#[inline(always)]
pub fn light_barrier() {
    compiler_fence(Ordering::SeqCst);
}

/// Makes every running thread of the process pass a full barrier. False where the system does not support that.
/// Takes some microseconds, the first time some milliseconds. Makes a system call that a seccomp filter
/// may not allow.
pub fn heavy_barrier() -> bool {
    REGISTERED.load(Ordering::Relaxed) && membarrier(PRIVATE_EXPEDITED)
        || membarrier(REGISTER_PRIVATE_EXPEDITED) && {
            REGISTERED.store(true, Ordering::Relaxed);
            membarrier(PRIVATE_EXPEDITED)
        }
}

fn membarrier(command: libc::c_long) -> bool {
    // SAFETY: the call touches no memory of the program's.
    keeping_errno(|| unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 })
}
