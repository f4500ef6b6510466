//! Samples: how stacks are walked, and the functions of `allod/heap.h` about them.

use crate::errno;
use allod_heap::sampling;
use allod_os::loader;
use core::ffi::CStr;
use libc::{c_char, c_int, c_uint};

/// Has stacks walked by unwind tables, and leaves this library's own functions out; those of a program that it
/// is a part of are in the program's file, and stay.
extern "C" fn on_load() {
    let own = loader::code_at(on_load as *const () as usize).filter(|code| !code.path.is_empty());
    sampling::walk_with(allod_unwind::walk, own.map_or(0..0, |code| code.start..code.end));
}

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

/// Has one block of `one_in` guarded from now on, none with 0: 0, or -1 when there is no memory for that.
#[unsafe(no_mangle)]
pub extern "C" fn allod_guard(one_in: c_uint) -> c_int {
    if sampling::guard_one_in(one_in) {
        return 0;
    }
    errno::set(libc::ENOMEM);
    -1
}

/// Begins a heap profile: 0, or -1 with `EINVAL` for a rate of 0, `ENOMEM` when there is no memory for it.
#[unsafe(no_mangle)]
pub extern "C" fn allod_profile_start(every: usize) -> c_int {
    if sampling::profile_start(every as u64) {
        return 0;
    }
    errno::set(if every == 0 { libc::EINVAL } else { libc::ENOMEM });
    -1
}

/// Writes the profile into a file: 0, or -1 with the system's error, or with `EBUSY` in a signal handler that interrupted
/// the recording of a sample.
///
/// # Safety
/// `file` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_profile_dump(file: *const c_char) -> c_int {
    // SAFETY: the caller's contract.
    match sampling::profile_dump(unsafe { CStr::from_ptr(file) }) {
        Ok(()) => 0,
        Err(refusal) => {
            errno::set(refusal.0);
            -1
        }
    }
}

/// Takes no more samples.
#[unsafe(no_mangle)]
pub extern "C" fn allod_profile_stop() {
    sampling::profile_stop();
}
