//! The beginning and the normal end of a program.

use crate::ending::{self, Last};
use crate::ports;
use crate::state::{self, Program};
use crate::value::V;
use std::ffi::{c_char, c_int};

/// Makes a program ready to run.
///
/// # Safety
/// `program` is what the compiler emitted, and `argv` the process's arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sch_start(
    program: *const Program,
    base: *mut V,
    argc: c_int,
    argv: *const *const c_char,
) {
    ending::set(Last { flush: ports::flush_all, tell: state::tell_stats });
    // SAFETY: the caller's contract.
    unsafe { state::open(program, base, (argc, argv), ports::sweep) };
    ports::start();
}

/// The normal end.
#[unsafe(no_mangle)]
pub extern "C" fn sch_end() -> ! {
    ending::finish(0)
}

/// `exit` and, with `quick`, `emergency-exit`. The system keeps the low eight bits of a code, which must not
/// make a success of any other number than 0; of what is no exact integer, 70 is made.
#[unsafe(no_mangle)]
pub extern "C" fn sch_exit(code: V, _quick: V) {
    ending::finish(match code {
        V::TRUE => 0,
        V::FALSE => 1,
        code => match code.as_small() {
            Some(code) if code != 0 && code & 255 == 0 => 255,
            Some(code) => (code & 255) as i32,
            None => 70,
        },
    })
}
