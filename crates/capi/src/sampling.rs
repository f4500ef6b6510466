//! Samples: how stacks are walked, and the functions of `allod/heap.h` about them.

use crate::errno;
use allod_heap::sampling;
use allod_os::loader;
use libc::{c_int, c_uint};

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
