//! A four-byte lock: spin briefly, then sleep on the futex.
//!
//! Unlocked 0, locked 1, locked with sleepers 2 (Drepper, "Futexes are tricky", mutex 3).
//! Zeroed memory is an unlocked lock.

use core::hint::spin_loop;
use core::sync::atomic::{AtomicU32, Ordering};

/// A lock that guards data kept elsewhere. Zero bytes are an unlocked lock. Not reentrant.
#[derive(Debug)]
#[repr(transparent)]
pub struct Lock(AtomicU32);

impl Default for Lock {
    fn default() -> Self {
        Self::new()
    }
}

impl Lock {
    /// An unlocked lock.
    pub const fn new() -> Lock {
        Lock(AtomicU32::new(0))
    }

    /// Takes the lock, sleeping when another thread holds it for long.
    #[inline]
    pub fn lock(&self) {
        if self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.wait();
        }
    }

    /// Takes the lock if it is free.
    #[inline]
    #[must_use]
    pub fn try_lock(&self) -> bool {
        self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Releases the lock. Only its holder may call this.
    #[inline]
    pub fn unlock(&self) {
        if self.0.swap(0, Ordering::Release) == 2 {
            futex_wake(&self.0, 1);
        }
    }

    /// Takes the lock for the time of one closure.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        self.lock();
        let r = f();
        self.unlock();
        r
    }

    #[cold]
    fn wait(&self) {
        for _ in 0..100 {
            if self.0.load(Ordering::Relaxed) == 0 && self.try_lock() {
                return;
            }
            spin_loop();
        }
        while self.0.swap(2, Ordering::Acquire) != 0 {
            futex_wait(&self.0, 2, None);
        }
    }
}

/// Sleeps while `word` holds `value`, for at most `millis`. May wake for no reason.
///
/// Returns when woken, when the value differs, when a signal came or when the time is over.
pub fn futex_wait(word: &AtomicU32, value: u32, millis: Option<u64>) {
    let t = millis.map(|ms| libc::timespec {
        tv_sec: (ms / 1000) as libc::time_t,
        tv_nsec: (ms % 1000) as libc::c_long * 1_000_000,
    });
    let timeout = t.as_ref().map_or(core::ptr::null(), |t| t as *const libc::timespec);
    // SAFETY: the word lives as long as the reference; errno is restored for malloc's callers.
    unsafe {
        let errno = *libc::__errno_location();
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            value,
            timeout,
        );
        *libc::__errno_location() = errno;
    }
}

/// Wakes up to `n` threads that sleep on `word`.
pub fn futex_wake(word: &AtomicU32, n: i32) {
    // SAFETY: waking touches no memory of ours; errno is restored for malloc's callers.
    unsafe {
        let errno = *libc::__errno_location();
        let op = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
        libc::syscall(libc::SYS_futex, word.as_ptr(), op, n);
        *libc::__errno_location() = errno;
    }
}
