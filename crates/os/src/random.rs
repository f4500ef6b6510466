//! The system's randomness.

use crate::errno::keeping_errno;

/// A random word. Where the system has none yet, early in its life, or does not give it (a seccomp filter),
/// from what the kernel gave the process at its start, and the clock.
pub fn word() -> u64 {
    let mut word = 0u64;
    // SAFETY: the kernel writes at most as many bytes as the word has.
    let got = keeping_errno(|| unsafe {
        libc::syscall(libc::SYS_getrandom, &raw mut word, size_of::<u64>(), libc::GRND_NONBLOCK)
    });
    if got == size_of::<u64>() as libc::c_long { word } else { at_start() }
}

#[cold]
fn at_start() -> u64 {
    // SAFETY: AT_RANDOM, where it is given, points to 16 random bytes of the process's own.
    let noise = unsafe {
        match libc::getauxval(libc::AT_RANDOM) as *const u8 {
            bytes if bytes.is_null() => 0,
            bytes => bytes.cast::<u64>().read_unaligned(),
        }
    };
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    noise ^ (now.tv_nsec as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
