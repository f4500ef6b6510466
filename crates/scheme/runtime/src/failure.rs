//! Errors of primitives.
//!
//! A primitive that fails gives a [`Failure`]. It becomes a condition of Scheme and is raised after
//! everything the primitive held has been dropped: the program's handler may never come back.

use crate::printing;
use crate::records;
use crate::value::{self, V};
use std::ffi::{CStr, c_char, c_int};

/// What a condition is about, for `file-error?` and `read-error?`. 0 is `error`'s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Kind {
    File = 1,
    Read = 2,
    Misuse = 3,
}

/// Why a primitive could not do its work.
#[derive(Debug)]
pub struct Failure {
    pub kind: Kind,
    pub message: String,
    pub irritants: Vec<V>,
}

pub type Outcome<T> = Result<T, Failure>;

/// The stack of roots above the procedure that called the primitive.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Sp(*mut V);

unsafe extern "C" {
    fn sch_raise(sp: Sp, condition: V) -> V;
}

impl Failure {
    pub fn new(message: impl Into<String>, irritants: &[V]) -> Failure {
        Failure { kind: Kind::Misuse, message: message.into(), irritants: irritants.to_vec() }
    }
}

/// "argument 2 of vector-ref must be …"
pub fn wrong_type<T>(who: &str, which: usize, what: &str, is: V) -> Outcome<T> {
    Err(Failure::new(format!("{who}: argument {which} must be {what}, not"), &[is]))
}

pub fn out_of_range<T>(who: &str, which: usize, is: V) -> Outcome<T> {
    Err(Failure::new(format!("{who}: argument {which} is out of range:"), &[is]))
}

/// The result of a primitive; a failure is raised.
pub fn or_raise<T>(sp: Sp, outcome: Outcome<T>) -> T {
    match outcome {
        Ok(value) => value,
        Err(failure) => raise(sp, failure),
    }
}

fn raise(sp: Sp, failure: Failure) -> ! {
    let condition = {
        let Failure { kind, message, irritants } = failure;
        records::error(kind, value::string(&message), value::list(&irritants))
    };
    // SAFETY: the program's own function; `sp` is the caller's, and nothing is held here.
    unsafe { sch_raise(sp, condition) };
    stop("a handler returned from an error of a primitive")
}

/// Exports primitives that may fail.
#[macro_export]
macro_rules! primitives {
    ($( $(#[$doc:meta])* fn $name:ident($($arg:ident),*) $(-> $ret:ty)? $body:block )*) => { $(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(sp: $crate::failure::Sp $(, $arg: $crate::value::V)*) $(-> $ret)? {
            #[allow(unused_mut)]
            let mut work = || -> $crate::failure::Outcome<_> { $body };
            let outcome = work();
            $crate::failure::or_raise(sp, outcome)
        }
    )* };
}

/// Ends the program with a message of the library itself.
pub fn stop(message: &str) -> ! {
    crate::ports::flush_all();
    eprintln!("error: {message}");
    crate::system::leave(70)
}

pub fn out_of_memory() -> ! {
    stop("out of memory")
}

/// Ends a program whose stack is used up. Called by a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn sch_stack_end() -> ! {
    crate::ports::flush_all();
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
    crate::ports::flush_all();
    if records::is_error(condition) {
        eprintln!("error: {}", records::describe(condition));
    } else {
        eprintln!("error: uncaught object: {}", printing::text(condition, printing::How::Write));
    }
    eprint!("{}", crate::trace::calls());
    crate::system::leave(70)
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
