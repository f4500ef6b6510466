//! The clock of a recording.

use core::sync::atomic::{AtomicU64, Ordering};

/// Nanoseconds of the system's clock when the recording began.
static BEGAN: AtomicU64 = AtomicU64::new(0);

/// From now on [`time`] counts from here.
pub(crate) fn begin() {
    BEGAN.store(read(libc::CLOCK_MONOTONIC), Ordering::Relaxed);
}

/// Nanoseconds since the recording began.
pub(crate) fn time() -> u64 {
    read(libc::CLOCK_MONOTONIC) - BEGAN.load(Ordering::Relaxed)
}

/// Seconds since the year 1970.
pub(crate) fn date() -> u64 {
    read(libc::CLOCK_REALTIME) / 1_000_000_000
}

fn read(which: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid place for the answer.
    unsafe { libc::clock_gettime(which, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
