//! Settings by name: the functions of `allod/heap.h` about them.

use crate::errno;
use allod_heap::settings::{self, Error};
use core::ffi::CStr;
use libc::{EINVAL, ENOENT, ENOMEM, ENOTSUP, EPERM, ERANGE, c_char, c_int};

/// Reads a setting: 0, or -1 with `ENOENT` for an unknown name, `EINVAL` for a text.
///
/// # Safety
/// `name` is a C string, and `value` a valid place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_setting_get(name: *const c_char, value: *mut u64) -> c_int {
    // SAFETY: the caller's contract.
    let got = unsafe { text(name) }.and_then(settings::get);
    // SAFETY: the caller's contract.
    answer(got.map(|got| unsafe { value.write(got) }))
}

/// Changes a setting: 0, or -1 with `ENOENT` for an unknown name, `EPERM` for a setting that cannot change,
/// `ERANGE` for a value that it does not take, `ENOMEM`, or `ENOTSUP`.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_setting_set(name: *const c_char, value: u64) -> c_int {
    // SAFETY: the caller's contract.
    answer(unsafe { text(name) }.and_then(|name| settings::set(name, value)))
}

/// # Safety
/// `name` is a C string that lives as long as the result.
unsafe fn text<'a>(name: *const c_char) -> Result<&'a str, Error> {
    // SAFETY: the caller's contract.
    unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| Error::Unknown)
}

fn answer(done: Result<(), Error>) -> c_int {
    let Err(error) = done else { return 0 };
    errno::set(match error {
        Error::Unknown => ENOENT,
        Error::Fixed => EPERM,
        Error::OutOfRange(_) => ERANGE,
        Error::OutOfMemory => ENOMEM,
        Error::NotInThisBuild => ENOTSUP,
        _ => EINVAL,
    });
    -1
}
