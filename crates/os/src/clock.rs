//! Clocks that never go back: a cheap one for decay, and one to time a request with.

/// Milliseconds since some fixed moment, a few milliseconds coarse. Never goes back. Costs no
/// system call on Linux (read from the vDSO page).
pub fn coarse_millis() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    #[cfg(target_os = "linux")]
    let id = libc::CLOCK_MONOTONIC_COARSE;
    #[cfg(not(target_os = "linux"))]
    let id = libc::CLOCK_MONOTONIC;
    // SAFETY: `t` is a valid place for the answer.
    unsafe { libc::clock_gettime(id, &mut t) };
    t.tv_sec as u64 * 1000 + t.tv_nsec as u64 / 1_000_000
}

/// Microseconds since some fixed moment. Never goes back. Costs no system call where the kernel offers a
/// vDSO clock.
pub fn micros() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
    t.tv_sec as u64 * 1_000_000 + t.tv_nsec as u64 / 1000
}

/// Nanoseconds since 1970, by the system's clock.
pub fn wall_nanos() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}
