//! The handler of SIGSEGV: an access to a slot's closed pages is reported, all else is passed on.

use crate::base::settings;
use crate::guard::slots::ALL;
use crate::guard::{chain, report};
use crate::sample::trace::Trace;
use allod_os::lock::{Held, Lock};
use allod_os::stack::{self, Regs};
use allod_os::{thread, vm};
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;
use libc::{c_int, siginfo_t, ucontext_t};

/// The handler, once for each place in the chain.
pub const HANDLERS: [chain::Handler; chain::PLACES] = [
    handle::<0>,
    handle::<1>,
    handle::<2>,
    handle::<3>,
    handle::<4>,
    handle::<5>,
    handle::<6>,
    handle::<7>,
];

/// The stack on which reports are made: a program's own for handlers may be just long enough for its own.
struct Stack {
    lock: Lock,
    room: UnsafeCell<Room>,
}

#[repr(align(16))]
struct Room {
    _bytes: [u8; 64 * 1024],
}

// SAFETY: used with the lock held.
unsafe impl Sync for Stack {}

static STACK: Stack =
    Stack { lock: Lock::new(), room: UnsafeCell::new(Room { _bytes: [0; 64 * 1024] }) };

/// An access that faulted.
struct Access {
    address: usize,
    slot: usize,
    context: *const ucontext_t,
}

extern "C" fn report(access: *mut u8) {
    // SAFETY: the handler's own value; its context is the system's.
    unsafe {
        let Access { address, slot, context } = *access.cast::<Access>();
        let here = Trace::from(Regs::interrupted(context));
        report::access(address, stack::was_write(context), &here, slot);
    }
}

impl Stack {
    /// Waits until no other thread makes a report: whoever goes on may end the process in the middle of it. `None`
    /// in a report that faults itself, and after a fork in the middle of one.
    fn enter(&self) -> Option<Held<'_>> {
        const MOST_MILLIS: u32 = 1000;
        if self.lock.interrupted_here() {
            return None;
        }
        (0..MOST_MILLIS).find_map(|_| {
            let held = self.lock.try_enter();
            if held.is_none() {
                thread::pause(1);
            }
            held
        })
    }

    /// Reports an access, with the lock held. No signal is handled meanwhile: the system would take a program's stack
    /// for handlers to be free, on which the handler that waits for this may lie.
    unsafe fn report(&self, mut access: Access) {
        // SAFETY: the stack is the lock holder's; masks are valid places.
        unsafe {
            let (mut all, mut old) = (MaybeUninit::uninit(), MaybeUninit::uninit());
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), old.as_mut_ptr());
            let end = self.room.get().add(1) as usize;
            stack::call_on(end, report, (&raw mut access).cast());
            libc::pthread_sigmask(libc::SIG_SETMASK, old.as_ptr(), ptr::null_mut());
        }
    }
}

unsafe extern "C" fn handle<const PLACE: usize>(
    signal: c_int,
    info: *mut siginfo_t,
    context: *mut c_void,
) {
    // SAFETY: the system's arguments, or those that another handler passes on.
    unsafe {
        let is_fault = (*info).si_code > 0;
        let address = (*info).si_addr() as usize;
        if is_fault && let Some(slot) = ALL.number_of(address) {
            if let Some(_held) = STACK.enter()
                && !ALL.slot(slot).reported.swap(true, Relaxed)
            {
                STACK.report(Access { address, slot, context: context.cast() });
            }
            if !settings::ABORT.on() {
                // The access is made again, and changes nothing but a page that nobody uses.
                let page = vm::page_size();
                if vm::allow(address & !(page - 1), page) {
                    return;
                }
            }
        }
        chain::pass_on(PLACE, signal, info, context);
    }
}
