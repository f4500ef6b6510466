//! Environment variables, read without allocating.

use core::ffi::CStr;

unsafe extern "C" {
    static mut environ: *const *const libc::c_char;
}

/// True once the C library has set the environment up, which it does before any constructor runs
/// but after the dynamic linker's first allocations.
pub fn is_ready() -> bool {
    // SAFETY: reads one pointer that start-up code has written or not.
    unsafe { !environ.is_null() }
}

/// Calls `f` with name and value of every environment variable that starts with `prefix`.
///
/// Meant for start-up: reading while another thread calls `setenv` is a race, as in C.
pub fn each_with_prefix(prefix: &[u8], mut f: impl FnMut(&[u8], &[u8])) {
    // SAFETY: `environ` is null or a null-terminated array of C strings; start-up has one thread.
    unsafe {
        let mut at = environ;
        while !at.is_null() && !(*at).is_null() {
            let entry = CStr::from_ptr(*at).to_bytes();
            at = at.add(1);
            if !entry.starts_with(prefix) {
                continue;
            }
            if let Some(eq) = entry.iter().position(|&b| b == b'=') {
                f(&entry[..eq], &entry[eq + 1..]);
            }
        }
    }
}

/// True in a program that runs with more rights than its caller (set-user-ID and the like).
pub fn is_privileged() -> bool {
    // SAFETY: asks for a number that the kernel gave at start.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// A random number that the system gave the process at its start; 0 where it gave none.
pub fn random_word() -> u64 {
    // SAFETY: AT_RANDOM, where it is given, points to 16 random bytes of the process's own.
    unsafe {
        match libc::getauxval(libc::AT_RANDOM) as *const u64 {
            words if words.is_null() => 0,
            // The first half is the C library's.
            words => words.add(1).read_unaligned(),
        }
    }
}
