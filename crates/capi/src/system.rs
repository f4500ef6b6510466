//! System calls that concern the whole process, and that the heap must know of beforehand.
//!
//! Each does what the C library's function of that name does. `unshare` and `setns` refuse some of
//! their work to a process with two threads: the helper thread that gives memory back ends before the
//! call, and may come back later. A seccomp filter may end a process that starts a thread: once one
//! is announced there is no helper any more. `mlockall` counts reserved addresses as locked memory:
//! they are given up first, and so they are when `setrlimit` or `prlimit` limits the process's address
//! space. `_exit` runs nothing of what is registered for the end of the process: the report is printed before.

use allod_heap::process;
use allod_os::errno::{self, keeping_errno};
use core::ptr::null_mut;
use libc::{EINVAL, MCL_FUTURE, RLIM_INFINITY, c_int, c_long, c_uint, c_ulong, pid_t, rlimit};

/// `prctl` operations after which a seccomp filter is to be expected.
const SANDBOXING: [c_int; 2] = [libc::PR_SET_SECCOMP, libc::PR_SET_NO_NEW_PRIVS];

/// Defines functions that stand in front of the C library's, under one name or several: each makes its
/// system call where its body says `call()`.
macro_rules! in_front_of {
    ($(
        $(#[$doc:meta])*
        fn $($name:ident),+ ($($argument:ident: $type:ty),*) = $number:ident($($passed:expr),*)
        |$call:ident| $body:expr
    )+) => { $(
        in_front_of! { @names [$($name)+] [$(#[$doc])*] [$($argument: $type),*] {
            // SAFETY: the caller's contract is the system call's.
            let $call = || unsafe { libc::syscall(libc::$number, $($passed),*) };
            let result: c_long = $body;
            result as c_int
        } }
    )+ };
    (@names [$($name:ident)+] $doc:tt $arguments:tt $body:tt) => {
        $( in_front_of! { @one $name $doc $arguments $body } )+
    };
    (@one $name:ident [$(#[$doc:meta])*] [$($argument:ident: $type:ty),*] $body:block) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// As the C library demands: places that are pointed to are null or valid.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int $body
    };
}

in_front_of! {
    /// Linux `unshare`: the calling process leaves namespaces or other things that it shares.
    fn unshare(flags: c_int) = SYS_unshare(flags)
    |call| process::without_helper(call, refused)

    /// Linux `setns`: the calling thread joins a namespace.
    fn setns(descriptor: c_int, kind: c_int) = SYS_setns(descriptor, kind)
    |call| process::without_helper(call, refused)

    /// Linux `prctl`.
    fn prctl(operation: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong)
        = SYS_prctl(operation, a, b, c, d)
    |call| {
        if SANDBOXING.contains(&operation) {
            process::expect_sandbox();
        }
        call()
    }

    /// POSIX `mlockall`: locks the pages of the process in memory.
    fn mlockall(flags: c_int) = SYS_mlockall(flags)
    |call| process::with_locked_memory(flags & MCL_FUTURE != 0, call, |&result| result != 0)

    /// POSIX `munlockall`: unlocks them.
    fn munlockall() = SYS_munlockall()
    |call| {
        process::expect_unlocked_memory();
        call()
    }

    /// POSIX `setrlimit`: limits what the process may use of a resource. By two names, for 64-bit files.
    fn setrlimit, setrlimit64(resource: c_uint, limit: *const rlimit)
        = SYS_prlimit64(0, resource, limit, null_mut::<rlimit>())
    |call| {
        // SAFETY: the caller's contract.
        unsafe { expect_limit(0, resource, limit) };
        call()
    }

    /// Linux `prlimit`: sets and asks for a limit of a process. By two names, for 64-bit files.
    fn prlimit, prlimit64(target: pid_t, resource: c_uint, limit: *const rlimit, old: *mut rlimit)
        = SYS_prlimit64(target, resource, limit, old)
    |call| {
        // SAFETY: the caller's contract.
        unsafe { expect_limit(target, resource, limit) };
        call()
    }
}

/// POSIX `_exit`: ends the process without running what is registered for its end.
///
/// What the C library calls by this name itself, at the end of `exit`, does not come here.
#[unsafe(no_mangle)]
pub extern "C" fn _exit(status: c_int) -> ! {
    process::expect_end();
    loop {
        // SAFETY: the system call does not return; the loop is for the compiler, which does not know.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}

/// C99 `_Exit`: the same.
#[unsafe(no_mangle)]
pub extern "C" fn _Exit(status: c_int) -> ! {
    _exit(status)
}

fn refused(result: &c_long) -> bool {
    *result == -1 && errno::get() == EINVAL
}

/// Prepares for a limit of the address space of this process; limits have 64 bits on all machines that this
/// library serves.
unsafe fn expect_limit(target: pid_t, resource: c_uint, limit: *const rlimit) {
    // The C libraries do not agree on the sign of these numbers.
    let counts =
        [libc::RLIMIT_AS, libc::RLIMIT_DATA].iter().any(|&r| i64::from(r) == i64::from(resource));
    // SAFETY: the caller's limit is null or readable.
    let is_limit = counts && !limit.is_null() && unsafe { (*limit).rlim_cur } != RLIM_INFINITY;
    if is_limit && is_this_process(target) {
        process::expect_limited_addresses();
    }
}

/// True for 0, and for the number of the process or of any of its threads, by which it may be named, too.
fn is_this_process(target: pid_t) -> bool {
    // SAFETY: signal 0 asks only whether there is such a thread.
    let is_thread = || unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), target, 0) == 0 };
    target == 0 || keeping_errno(is_thread)
}
