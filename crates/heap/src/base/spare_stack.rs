//! A stack for what may be called on a program's small one: a signal handler's may be just long enough for the handler.

use allod_os::lock::{Held, Lock};
use allod_os::{stack, thread};
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr;

/// A stack that one thread at a time uses.
pub struct SpareStack {
    lock: Lock,
    room: UnsafeCell<Room>,
}

#[repr(align(16))]
struct Room {
    _bytes: [u8; 64 * 1024],
}

// SAFETY: used with the lock held.
unsafe impl Sync for SpareStack {}

/// The stack on which reports are written, and what is done at the end of the process.
pub static SPARE_STACK: SpareStack = SpareStack::new();
/// The stack on which profiles are written at a signal. That may take long, and reports do not wait.
pub static PROFILE_STACK: SpareStack = SpareStack::new();

/// In a forked child: whichever thread of the parent's used a stack is not there.
pub fn forked() {
    [&SPARE_STACK, &PROFILE_STACK].into_iter().for_each(|stack| stack.lock.reset_in_child());
}

/// A spare stack that is the calling thread's until the value is dropped.
pub struct Taken<'a> {
    stack: &'a SpareStack,
    _held: Held<'a>,
}

impl SpareStack {
    const fn new() -> SpareStack {
        let room = UnsafeCell::new(Room { _bytes: [0; 64 * 1024] });
        SpareStack { lock: Lock::new(), room }
    }

    /// Takes the stack once no other thread uses it, but waits for a second at most. `None` then, and where the calling
    /// thread uses it already.
    pub fn take(&self) -> Option<Taken<'_>> {
        const MOST_MILLIS: u32 = 1000;
        if self.lock.interrupted_here() {
            return None;
        }
        (0..MOST_MILLIS).find_map(|_| {
            let taken = self.try_take();
            if taken.is_none() {
                thread::pause(1);
            }
            taken
        })
    }

    /// Takes the stack if nobody uses it.
    pub fn try_take(&self) -> Option<Taken<'_>> {
        self.lock.try_enter().map(|held| Taken { stack: self, _held: held })
    }
}

impl Taken<'_> {
    /// Calls a function on the stack. No signal is handled meanwhile: the system would take a program's stack for
    /// handlers to be free, on which the caller may stand. Nor is the thread cancelled: it would keep the stack.
    pub fn call<F: FnMut()>(&self, mut f: F) {
        extern "C" fn enter<F: FnMut()>(f: *mut u8) {
            // SAFETY: the function of the call that is under way.
            unsafe { (*f.cast::<F>())() }
        }
        // SAFETY: the stack is the lock holder's; the function does not unwind; masks are valid places.
        unsafe {
            let (mut all, mut old) = (MaybeUninit::uninit(), MaybeUninit::uninit());
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), old.as_mut_ptr());
            let end = self.stack.room.get().add(1) as usize;
            thread::uncancelled(|| stack::call_on(end, enter::<F>, (&raw mut f).cast()));
            libc::pthread_sigmask(libc::SIG_SETMASK, old.as_ptr(), ptr::null_mut());
        }
    }
}
