//! Sleeping on a word of memory until it changes.

use crate::errno::keeping_errno;
use core::sync::atomic::{AtomicU32, AtomicUsize};

/// Sleeps while `word` holds `value`, for at most `millis`. May wake for no reason.
///
/// Returns when woken, when the value differs, when a signal came or when the time is over.
pub fn futex_wait(word: &AtomicU32, value: u32, millis: Option<u64>) {
    let t = millis.map(|ms| libc::timespec {
        tv_sec: (ms / 1000) as _,
        tv_nsec: (ms % 1000) as libc::c_long * 1_000_000,
    });
    let timeout = t.as_ref().map_or(core::ptr::null(), |t| t as *const libc::timespec);
    let op = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word lives as long as the reference.
    keeping_errno(|| unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op, value, timeout) });
}

/// Wakes up to `n` threads that sleep on `word`.
pub fn futex_wake(word: &AtomicU32, n: i32) {
    let op = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: waking touches no memory of ours.
    keeping_errno(|| unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op, n) });
}

/// Like [`futex_wait`] for a word of which the kernel sees the lower half.
pub fn futex_wait_word(word: &AtomicUsize, value: usize, millis: Option<u64>) {
    futex_wait(lower_half(word), value as u32, millis);
}

/// Like [`futex_wake`] for a word of which the kernel sees the lower half.
pub fn futex_wake_word(word: &AtomicUsize, n: i32) {
    futex_wake(lower_half(word), n);
}

/// Only for its address: the halves are never written separately.
fn lower_half(word: &AtomicUsize) -> &AtomicU32 {
    const AT: usize =
        if cfg!(target_endian = "big") { size_of::<AtomicUsize>() / 4 - 1 } else { 0 };
    // SAFETY: the half lies in the word and lives as long.
    unsafe { &*core::ptr::from_ref(word).cast::<AtomicU32>().add(AT) }
}
