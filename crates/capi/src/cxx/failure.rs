//! What `operator new` does when memory is out.
//!
//! The C++ standard's loop: try; if that fails call the new-handler and try again; without a
//! handler throw `std::bad_alloc`. The nothrow forms run the same loop, return null where the
//! others throw, and also return null when the handler throws.
//!
//! ```text
//!   _Znwm ──tail call──> allod_cxx_new          (assembly: an exception may pass)
//!                          ├─ attempt             Rust, returns
//!                          ├─ handler_or_thrower  Rust, returns what to call
//!                          └─ new-handler or thrower        C++, may throw
//! ```

use super::runtime::{self, Symbol};
use core::arch::global_asm;
use libc::{c_int, c_void};

/// Assembles the frames and names the Rust functions they call.
macro_rules! frames {
    ($file:literal) => {
        global_asm!(
            include_str!($file),
            attempt = sym attempt,
            handler_or_thrower = sym handler_or_thrower,
            handler_or_null = sym handler_or_null,
            discard = sym discard,
            catch_all = sym catch_all,
        );
    };
}

#[cfg(target_arch = "x86_64")]
frames!("frames_x86_64.s");
#[cfg(target_arch = "aarch64")]
frames!("frames_aarch64.s");

unsafe extern "C" {
    /// Runs the loop; returns a block or throws `std::bad_alloc`.
    pub(super) fn allod_cxx_new(size: usize, align: usize) -> *mut u8;
    /// Runs the loop; returns a block or null.
    pub(super) fn allod_cxx_new_nothrow(size: usize, align: usize) -> *mut u8;
    /// Where [`catch_all`] sends an exception; only its address is used.
    fn allod_cxx_landing_pad();
}

/// One try, without looking at handlers. An alignment that is no power of two always fails.
pub(super) extern "C" fn attempt(size: usize, align: usize) -> *mut u8 {
    if !align.is_power_of_two() {
        return core::ptr::null_mut();
    }
    allod_heap::aligned_alloc(align, size)
}

/// The program's new-handler, or null.
extern "C" fn handler_or_null() -> *const c_void {
    // SAFETY: the symbol is `std::new_handler std::get_new_handler() noexcept`.
    let found: Option<extern "C" fn() -> *const c_void> =
        unsafe { runtime::find(Symbol::GetNewHandler) };
    found.map_or(core::ptr::null(), |get_new_handler| get_new_handler())
}

/// The program's new-handler, or the function that throws `std::bad_alloc`; aborts without either.
extern "C" fn handler_or_thrower() -> *const c_void {
    let handler = handler_or_null();
    if !handler.is_null() {
        return handler;
    }
    // SAFETY: any function may be taken for its address.
    let thrower: Option<*const c_void> = unsafe { runtime::find(Symbol::ThrowBadAlloc) };
    thrower.unwrap_or_else(|| {
        crate::errno::die(format_args!(
            "allod: out of memory in operator new, and this program has no C++ runtime that could \
             throw std::bad_alloc; a static program needs the linker option \
             -Wl,-u,_ZSt17__throw_bad_allocv\n"
        ))
    })
}

/// Ends the life of an exception that a new-handler threw.
unsafe extern "C" fn discard(exception: *mut c_void) {
    // SAFETY: the symbols are the C++ ABI's functions of these types.
    let (begin, end): (Option<extern "C" fn(*mut c_void) -> *mut c_void>, Option<extern "C" fn()>) =
        unsafe { (runtime::find(Symbol::BeginCatch), runtime::find(Symbol::EndCatch)) };
    if let (Some(begin), Some(end)) = (begin, end) {
        begin(exception);
        end();
    }
}

const SEARCH_PHASE: c_int = 1;
const HANDLER_FRAME: c_int = 4;
const FORCED_UNWIND: c_int = 8;

const HANDLER_FOUND: c_int = 6;
const INSTALL_CONTEXT: c_int = 7;
const CONTINUE_UNWIND: c_int = 8;

/// The register in which the landing pad expects the exception, by its DWARF number: rax, or x0.
const EXCEPTION_REGISTER: c_int = 0;

/// The personality routine of `allod_cxx_new_nothrow`: every exception stops there.
///
/// Thread cancellation (a forced unwind) passes through, as it does through `catch (...)` that
/// throws again.
unsafe extern "C" fn catch_all(
    _version: c_int,
    actions: c_int,
    _class: u64,
    exception: *mut c_void,
    context: *mut c_void,
) -> c_int {
    if actions & FORCED_UNWIND != 0 {
        return CONTINUE_UNWIND;
    }
    if actions & SEARCH_PHASE != 0 {
        return HANDLER_FOUND;
    }
    if actions & HANDLER_FRAME == 0 {
        return CONTINUE_UNWIND;
    }
    // SAFETY: the symbols are the unwinder's functions of these types.
    let (set_register, set_address): (
        Option<extern "C" fn(*mut c_void, c_int, usize)>,
        Option<extern "C" fn(*mut c_void, usize)>,
    ) = unsafe { (runtime::find(Symbol::UnwindSetGr), runtime::find(Symbol::UnwindSetIp)) };
    let (Some(set_register), Some(set_address)) = (set_register, set_address) else {
        return CONTINUE_UNWIND;
    };
    set_register(context, EXCEPTION_REGISTER, exception as usize);
    set_address(context, allod_cxx_landing_pad as *const () as usize);
    INSTALL_CONTEXT
}
