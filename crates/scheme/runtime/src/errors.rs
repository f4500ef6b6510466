//! Errors that the program's own code finds, and the last words of a program.

use crate::ending;
use crate::failure::{Failure, Sp, or_raise, out_of_range, wrong_type};
use crate::primitives;
use crate::printing;
use crate::records;
use crate::trace;
use crate::value::V;
use std::ffi::{CStr, c_char, c_int};

/// Ends a program whose stack is used up. Called by a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn sch_stack_end() -> ! {
    ending::flush();
    let text = "error: recursion too deep: the stack is used up\n";
    // SAFETY: plain system calls.
    unsafe {
        libc::write(2, text.as_ptr().cast(), text.len());
        libc::_exit(70)
    }
}

/// Ends the program because nobody handles a condition.
#[unsafe(no_mangle)]
pub extern "C" fn sch_uncaught(_: Sp, condition: V) {
    ending::flush();
    if records::is_error(condition) {
        eprintln!("error: {}", printing::described(condition));
    } else {
        eprintln!("error: uncaught object: {}", printing::text(condition, printing::How::Write));
    }
    eprint!("{}", trace::calls());
    ending::leave(70)
}

primitives! {
    fn sch_handler_returned(condition) {
        Err::<(), _>(Failure::new("an exception handler returned from the handling of", &[condition]))
    }

    fn sch_fail_type(who, which, what, is) {
        let which = which.as_small().unwrap_or(0) as usize;
        wrong_type::<()>(who.symbol_name(), which, &what.text(), is)
    }
}

unsafe fn text<'a>(p: *const c_char) -> &'a str {
    // SAFETY: the callers' C strings are literals of the program.
    unsafe { CStr::from_ptr(p) }.to_str().unwrap_or("?")
}

macro_rules! cold {
    ($( fn $name:ident($who:ident $(, $arg:ident: $ty:ty)*) $body:block )*) => { $(
        /// # Safety
        /// `who` is a C string.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(sp: Sp, $who: *const c_char $(, $arg: $ty)*) -> V {
            // SAFETY: the caller's contract.
            let $who = unsafe { text($who) };
            or_raise(sp, $body)
        }
    )* };
}

cold! {
    fn sch_type_error(who, which: c_int, what: *const c_char, is: V) {
        // SAFETY: the caller's contract.
        wrong_type(who, which as usize, unsafe { text(what) }, is)
    }
    fn sch_range_error(who, which: c_int, is: V) { out_of_range(who, which as usize, is) }
    fn sch_constant_error(who, is: V) {
        Err(Failure::new(format!("{who}: a constant cannot be changed:"), &[is]))
    }
    fn sch_wrong_args(who, argc: u64, takes: *const c_char) {
        // SAFETY: the caller's contract.
        let takes = unsafe { text(takes) };
        Err(Failure::new(format!("{who} takes {takes}, but gets {argc}"), &[]))
    }
    fn sch_unbound(who) { Err(Failure::new(format!("{who} is used before its definition"), &[])) }
}

primitives! {
    fn sch_not_procedure(is) -> V { Err(Failure::new("a call of what is no procedure:", &[is])) }
    fn sch_unbound_local(name) -> V {
        Err(Failure::new(format!("{} is used before its definition", name.symbol_name()), &[]))
    }
    fn sch_continuation_gone() -> V {
        Err(Failure::new("a continuation that could only be left through was entered again", &[]))
    }
}
