//! Panics of what can fail, in the name of the caller.

use crate::base::error::Error;

/// Panics in the caller's name.
#[cold]
#[inline(never)]
#[track_caller]
fn failed(error: Error) -> ! {
    panic!("allod region: {error}")
}

/// The value, or a panic with the error.
#[inline(always)]
#[track_caller]
pub(crate) fn sure<T>(result: Result<T, Error>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => failed(error),
    }
}
