//! The handler of SIGSEGV: an access to a slot's closed pages is reported, all else is passed on.

use crate::base::settings;
use crate::guard::slots::ALL;
use crate::guard::{chain, report};
use crate::sample::trace::Trace;
use allod_os::lock::Lock;
use allod_os::stack::{self, Regs};
use allod_os::vm;
use core::cell::UnsafeCell;
use core::ffi::c_void;
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
            if !ALL.slot(slot).reported.swap(true, Relaxed) {
                let mut access = Access { address, slot, context: context.cast() };
                // A report that faults itself, and a fork in the middle of one, leave the lock as it is.
                if let Some(_held) = STACK.lock.try_enter() {
                    let end = STACK.room.get().add(1) as usize;
                    stack::call_on(end, report, (&raw mut access).cast());
                }
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
