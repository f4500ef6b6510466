//! Errors of primitives.
//!
//! A primitive that fails gives a [`Failure`]. It becomes a condition of Scheme and is raised after
//! everything the primitive held has been dropped: the program's handler may never come back.

use crate::ending;
use crate::value::{self, V, types};

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

/// A condition.
pub fn condition(kind: Kind, message: V, irritants: V) -> V {
    value::fields(types::ERROR, &[V::small(kind as i64), message, irritants])
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
        condition(kind, value::string(&message), value::list(&irritants))
    };
    // SAFETY: the program's own function; `sp` is the caller's, and nothing is held here.
    unsafe { sch_raise(sp, condition) };
    ending::stop("a handler returned from an error of a primitive")
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
