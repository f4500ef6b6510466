//! The handler of SIGSEGV: an access to a slot's closed pages is reported, all else is passed on.

use crate::base::settings;
use crate::base::spare_stack::SPARE_STACK;
use crate::base::trace::Trace;
use crate::guard::slots::ALL;
use crate::guard::{chain, report};
use allod_os::stack::{self, Regs};
use allod_os::vm;
use core::ffi::c_void;
use core::sync::atomic::Ordering::Relaxed;
use libc::{c_int, siginfo_t};

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
            // Whoever goes on may end the process: not in the middle of another thread's report.
            if let Some(spare) = SPARE_STACK.take()
                && !ALL.slot(slot).reported.swap(true, Relaxed)
            {
                let context = context.cast();
                let here = || Trace::from(Regs::interrupted(context));
                spare.call(|| report::access(address, stack::was_write(context), &here(), slot));
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
