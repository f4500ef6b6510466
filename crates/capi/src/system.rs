//! System calls that concern the whole process, and that the heap must know of beforehand.
//!
//! Each does what the C library's function of that name does. `unshare` and `setns` refuse some of
//! their work to a process with two threads: the helper thread that gives memory back ends before the
//! call, and may come back later. A seccomp filter may end a process that starts a thread: once one
//! is announced there is no helper any more. `mlockall` counts reserved addresses as locked memory:
//! they are given up first, and so they are when `setrlimit` or `prlimit` limits address space.

use libc::{EINVAL, MCL_FUTURE, RLIM_INFINITY, c_int, c_long, c_uint, c_ulong, pid_t, rlimit};

/// `prctl` operations after which a seccomp filter is to be expected.
const SANDBOXING: [c_int; 2] = [libc::PR_SET_SECCOMP, libc::PR_SET_NO_NEW_PRIVS];

fn refused(result: &c_long) -> bool {
    // SAFETY: errno's address is always valid in the calling thread.
    *result == -1 && unsafe { *libc::__errno_location() } == EINVAL
}

/// Linux `unshare`: the calling process leaves namespaces or other things that it shares.
#[unsafe(no_mangle)]
pub extern "C" fn unshare(flags: c_int) -> c_int {
    // SAFETY: the system call takes one number.
    let call = || unsafe { libc::syscall(libc::SYS_unshare, flags) };
    allod_heap::process::without_helper(call, refused) as c_int
}

/// Linux `setns`: the calling thread joins a namespace.
#[unsafe(no_mangle)]
pub extern "C" fn setns(descriptor: c_int, kind: c_int) -> c_int {
    // SAFETY: the system call takes two numbers.
    let call = || unsafe { libc::syscall(libc::SYS_setns, descriptor, kind) };
    allod_heap::process::without_helper(call, refused) as c_int
}

/// Linux `prctl`.
///
/// # Safety
/// As the operation demands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prctl(
    operation: c_int,
    a: c_ulong,
    b: c_ulong,
    c: c_ulong,
    d: c_ulong,
) -> c_int {
    if SANDBOXING.contains(&operation) {
        allod_heap::process::expect_sandbox();
    }
    // SAFETY: the caller's contract.
    unsafe { libc::syscall(libc::SYS_prctl, operation, a, b, c, d) as c_int }
}

/// POSIX `mlockall`: locks the pages of the process in memory.
#[unsafe(no_mangle)]
pub extern "C" fn mlockall(flags: c_int) -> c_int {
    allod_heap::process::expect_locked_memory(flags & MCL_FUTURE != 0);
    // SAFETY: the system call takes one number.
    unsafe { libc::syscall(libc::SYS_mlockall, flags) as c_int }
}

/// POSIX `munlockall`: unlocks them.
#[unsafe(no_mangle)]
pub extern "C" fn munlockall() -> c_int {
    allod_heap::process::expect_unlocked_memory();
    // SAFETY: the system call takes nothing.
    unsafe { libc::syscall(libc::SYS_munlockall) as c_int }
}

/// POSIX `setrlimit`: limits what the process may use of a resource.
///
/// # Safety
/// `limit` is readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn setrlimit(resource: c_uint, limit: *const rlimit) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { set_limit(0, resource, limit, core::ptr::null_mut()) }
}

/// POSIX `setrlimit` by the name it has for 64-bit files.
///
/// # Safety
/// `limit` is readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn setrlimit64(resource: c_uint, limit: *const rlimit) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { set_limit(0, resource, limit, core::ptr::null_mut()) }
}

/// Linux `prlimit`: sets and asks for a limit of a process.
///
/// # Safety
/// `limit` is null or readable, `old` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prlimit(
    process: pid_t,
    resource: c_uint,
    limit: *const rlimit,
    old: *mut rlimit,
) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { set_limit(process, resource, limit, old) }
}

/// Linux `prlimit` by the name it has for 64-bit files.
///
/// # Safety
/// `limit` is null or readable, `old` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prlimit64(
    process: pid_t,
    resource: c_uint,
    limit: *const rlimit,
    old: *mut rlimit,
) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { set_limit(process, resource, limit, old) }
}

unsafe fn set_limit(
    process: pid_t,
    resource: c_uint,
    limit: *const rlimit,
    old: *mut rlimit,
) -> c_int {
    // SAFETY: the callers' contract; limits have 64 bits on all machines that this library serves.
    unsafe {
        let counts = matches!(resource, libc::RLIMIT_AS | libc::RLIMIT_DATA);
        if counts && !limit.is_null() && (*limit).rlim_cur != RLIM_INFINITY {
            allod_heap::process::expect_limited_addresses();
        }
        libc::syscall(libc::SYS_prlimit64, process, resource, limit, old) as c_int
    }
}
