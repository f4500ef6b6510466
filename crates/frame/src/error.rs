//! Panicking where memory is out.

pub use allod_frame_core::OutOfMemory;

/// The value, or a panic that says that memory is out.
#[inline(always)]
pub(crate) fn or_panic<T>(result: Result<T, OutOfMemory>) -> T {
    match result {
        Ok(value) => value,
        Err(OutOfMemory) => out_of_memory(),
    }
}

#[cold]
#[inline(never)]
fn out_of_memory() -> ! {
    crate::budgets::panic_if_refused();
    panic!("{OutOfMemory}")
}
