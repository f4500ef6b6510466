//! `__register_atfork`, which stands behind glibc's `pthread_atfork`: Allod's own fork handlers are
//! registered first, whoever comes first.
//!
//! Handlers that were registered first run last before a fork. A library takes a mutex in its handler,
//! and a thread of it holds that mutex while it allocates: so Allod's locks must be taken after the
//! mutex, as glibc's malloc takes its own after all handlers. Constructors run in an order that Allod does
//! not choose, and some before its own. But the dynamic linker has bound everything before the first of
//! them, so that all calls for this function come here.
//!
//! `pthread_atfork` itself stays the C library's: it is linked into every library apart and tells which
//! one it is, so that handlers go when the library does.

use allod_os::loader::next_function;
use core::ffi::c_void;
use core::mem::transmute;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use libc::{ENOMEM, c_int};

type Handler = Option<unsafe extern "C" fn()>;
type Register = unsafe extern "C" fn(Handler, Handler, Handler, *mut c_void) -> c_int;

/// glibc's function of that name. A program without shared libraries has the C library's own, and needs
/// no other: the C library allocates before any constructor there. So `install` makes this one weak in
/// `liballod.a`.
///
/// # Safety
/// As for `pthread_atfork`; `library` is the caller's handle, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __register_atfork(
    before: Handler,
    parent: Handler,
    child: Handler,
    library: *mut c_void,
) -> c_int {
    // Registers Allod's by coming here again, the first time.
    allod_heap::process::prepare();
    match next() {
        // SAFETY: the caller's contract.
        Some(register) => unsafe { register(before, parent, child, library) },
        None => ENOMEM,
    }
}

/// The C library's own function.
fn next() -> Option<Register> {
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    let mut found = NEXT.load(Relaxed);
    if found.is_null() {
        found = next_function(c"__register_atfork");
        NEXT.store(found, Relaxed);
    }
    // SAFETY: null, or a function of that type.
    unsafe { transmute::<*mut c_void, Option<Register>>(found) }
}
