//! Other handlers of SIGSEGV, and passing on to them.
//!
//! A program may install its own handler at any time, and then Allod's is not called any more. So with each guarded
//! block it is looked whose handler is installed: when it is the program's, Allod's is put in front of it again, at
//! the next place of a chain. Each place has a handler function of its own and knows what came before it, so that a
//! program's handler that passes on to the one it found, an earlier place, does not come back to itself.

use allod_os::errno::keeping_errno;
use allod_os::lock::Lock;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::{MaybeUninit, transmute};
use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use libc::{c_int, sigaction, siginfo_t};

/// A handler that is told why and where.
pub type Handler = unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// Times that a program may put another handler in front.
pub const PLACES: usize = 8;

struct Chain {
    lock: Lock,
    /// Places in use. What stands in them does not change any more.
    used: AtomicUsize,
    before: UnsafeCell<[MaybeUninit<sigaction>; PLACES]>,
    /// The handlers that were to be called once (`SA_RESETHAND`), and were.
    spent: [AtomicBool; PLACES],
}

// SAFETY: a place is written with the lock held before it is counted as used.
unsafe impl Sync for Chain {}

static CHAIN: Chain = Chain {
    lock: Lock::new(),
    used: AtomicUsize::new(0),
    before: UnsafeCell::new([MaybeUninit::uninit(); PLACES]),
    spent: [const { AtomicBool::new(false) }; PLACES],
};

/// The lock, which a fork takes: a child whose lock nobody releases would put no handler in front any more.
pub fn lock() -> &'static Lock {
    &CHAIN.lock
}

/// Puts one of the handlers in front of whatever else there is. A few hundred nanoseconds where it is.
pub fn put_first(handlers: [Handler; PLACES]) {
    keeping_errno(|| {
        // Whoever has the lock does the same.
        let Some(_held) = CHAIN.lock.try_enter() else { return };
        // SAFETY: places for the system's answers; a place that is not in use is the lock's holder's.
        unsafe {
            let mut now = MaybeUninit::<sigaction>::zeroed();
            if sigaction(libc::SIGSEGV, ptr::null(), now.as_mut_ptr()) != 0 {
                return;
            }
            let now = now.assume_init();
            if handlers.iter().any(|&own| own as usize == now.sa_sigaction) {
                return;
            }
            let used = CHAIN.used.load(Acquire);
            let same = |i: &usize| {
                let old = before(*i);
                old.sa_sigaction == now.sa_sigaction && old.sa_flags == now.sa_flags
            };
            let place = match (0..used).find(same) {
                Some(place) => place,
                // It changes its handlers all the time; it may keep the last one.
                None if used == PLACES => return,
                None => {
                    (*CHAIN.before.get())[used] = MaybeUninit::new(now);
                    CHAIN.used.store(used + 1, Release);
                    used
                }
            };
            CHAIN.spent[place].store(false, Relaxed);
            let mut own = MaybeUninit::<sigaction>::zeroed().assume_init();
            own.sa_sigaction = handlers[place] as usize;
            own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            sigaction(libc::SIGSEGV, &own, ptr::null_mut());
        }
    });
}

/// What was installed before a place of the chain, which is in use.
unsafe fn before(place: usize) -> sigaction {
    // SAFETY: the caller's contract.
    unsafe { (*CHAIN.before.get())[place].assume_init() }
}

/// Passes a signal on to what was installed before a place of the chain, as the system would: with its
/// signals blocked, and once where it is to be called once; to the end of the process where nothing was.
///
/// # Safety
/// A handler's arguments, in the handler of that place.
pub unsafe fn pass_on(place: usize, signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the handler of a place runs only when it is in use; functions have the type that their flags
    // say; masks are valid places.
    unsafe {
        let mut next = before(place);
        let is_fault = (*info).si_code > 0;
        if next.sa_flags & libc::SA_RESETHAND != 0 && CHAIN.spent[place].swap(true, Relaxed) {
            next.sa_sigaction = libc::SIG_DFL;
        }
        match next.sa_sigaction {
            libc::SIG_IGN if !is_fault => return,
            libc::SIG_DFL | libc::SIG_IGN => return end_by(signal, is_fault),
            _ => {}
        }
        let mut old = MaybeUninit::<libc::sigset_t>::zeroed().assume_init();
        libc::pthread_sigmask(libc::SIG_BLOCK, &next.sa_mask, &mut old);
        if next.sa_flags & libc::SA_NODEFER != 0 {
            let mut own = MaybeUninit::<libc::sigset_t>::zeroed().assume_init();
            libc::sigaddset(&mut own, signal);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &own, ptr::null_mut());
        }
        if next.sa_flags & libc::SA_SIGINFO != 0 {
            transmute::<usize, Handler>(next.sa_sigaction)(signal, info, context);
        } else {
            transmute::<usize, unsafe extern "C" fn(c_int)>(next.sa_sigaction)(signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &old, ptr::null_mut());
    }
}

/// Has the signal end the process: the access is made once more, or the signal sent.
fn end_by(signal: c_int, is_fault: bool) {
    // SAFETY: plain calls with valid places.
    unsafe {
        let mut default = MaybeUninit::<sigaction>::zeroed().assume_init();
        default.sa_sigaction = libc::SIG_DFL;
        sigaction(signal, &default, ptr::null_mut());
        if !is_fault {
            libc::raise(signal);
        }
    }
}
