//! Panicking when memory is out.

pub use allod_frame_core::OutOfMemory;
use core::convert::Infallible;

/// The value, or a panic because memory is out.
#[inline(always)]
pub(crate) fn or_panic<T>(result: Result<T, OutOfMemory>) -> T {
    match result {
        Ok(value) => value,
        Err(OutOfMemory) => out_of_memory(),
    }
}

/// What lack of memory becomes: the error of the `try_` methods, or a panic in the others, which
/// then need not carry and test an error.
pub(crate) trait Failure {
    /// The error; does not return if it panics.
    fn of(cause: OutOfMemory) -> Self;
}

impl Failure for OutOfMemory {
    #[inline(always)]
    fn of(cause: OutOfMemory) -> Self {
        cause
    }
}

impl Failure for Infallible {
    #[inline(always)]
    fn of(_: OutOfMemory) -> Self {
        out_of_memory()
    }
}

#[cold]
#[inline(never)]
fn out_of_memory() -> ! {
    crate::budgets::panic_if_refused();
    panic!("{OutOfMemory}")
}
