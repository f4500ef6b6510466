//! Handlers of signals, and threads without signals.

use core::mem::MaybeUninit;
use core::ptr;
use libc::{c_int, sigaction};

/// The signal that programs may use as they like and that has this name: `SIGUSR1` or `SIGUSR2`.
pub fn named(name: &str) -> Option<c_int> {
    match name {
        "SIGUSR1" => Some(libc::SIGUSR1),
        "SIGUSR2" => Some(libc::SIGUSR2),
        _ => None,
    }
}

/// Calls a function that no handler interrupts: signals for the thread wait until it ends. Those by which the processor
/// reports a fault do not: a thread that blocks them is ended without a word.
///
/// ```
/// use allod_os::signal::without_handlers;
///
/// extern "C" fn handler(_: i32) {
///     println!("after it");
/// }
///
/// assert!(allod_os::signal::handle(libc::SIGUSR1, handler));
/// without_handlers(|| {
///     // SAFETY: the signal has a handler.
///     unsafe { libc::raise(libc::SIGUSR1) };
///     println!("not interrupted");
/// });
/// ```
pub fn without_handlers<R>(f: impl FnOnce() -> R) -> R {
    const FAULTS: [c_int; 5] =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];
    let (mut most, mut old) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: masks are valid places; the first call fills `most`, and the one after the loop `old`.
    unsafe {
        libc::sigfillset(most.as_mut_ptr());
        for fault in FAULTS {
            libc::sigdelset(most.as_mut_ptr(), fault);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, most.as_ptr(), old.as_mut_ptr());
        let result = f();
        libc::pthread_sigmask(libc::SIG_SETMASK, old.as_ptr(), ptr::null_mut());
        result
    }
}

/// Has a function called at a signal, from now on until somebody sets another handler. System calls that the signal
/// interrupts begin again. False, and nothing has changed, where there is a handler already.
pub fn handle(signal: c_int, handler: extern "C" fn(c_int)) -> bool {
    // SAFETY: places for the system's answers; zero bytes are a `sigaction`, and the handler has the type that its
    // flags say.
    unsafe {
        let mut now = MaybeUninit::<sigaction>::zeroed();
        if sigaction(signal, ptr::null(), now.as_mut_ptr()) != 0 {
            return false;
        }
        if !matches!(now.assume_init().sa_sigaction, libc::SIG_DFL | libc::SIG_IGN) {
            return false;
        }
        let mut own = MaybeUninit::<sigaction>::zeroed().assume_init();
        own.sa_sigaction = handler as usize;
        own.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        sigaction(signal, &own, ptr::null_mut()) == 0
    }
}

/// Those that a thread raises itself, by a fault.
const FAULTS: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS];

/// Calls a function with all signals blocked but those of faults. A thread that it starts gets none that are meant for the
/// program, and stays as it is when the caller's mask is back.
pub fn blocked<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: the sets are written before they are read.
    unsafe {
        let mut sets = [const { MaybeUninit::<libc::sigset_t>::uninit() }; 2];
        let [all, old] = sets.each_mut().map(MaybeUninit::as_mut_ptr);
        libc::sigfillset(all);
        for fault in FAULTS {
            libc::sigdelset(all, fault);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, all, old);
        let result = f();
        libc::pthread_sigmask(libc::SIG_SETMASK, old, ptr::null_mut());
        result
    }
}
