//! Finding functions of the C++ runtime without depending on one.
//!
//! Programs in C must run on `liballod.so` without loading a C++ library, so every symbol is a weak
//! reference that the linker leaves null when nobody defines it. A C++ library that is loaded later
//! (a plug-in of a C program) is not seen by those references; it is asked for by name, without
//! loading it.

use core::arch::global_asm;
use core::ffi::CStr;
use core::mem::transmute_copy;
use core::ptr::NonNull;
use libc::{RTLD_DEFAULT, RTLD_LAZY, RTLD_NOLOAD, c_char, c_int, c_void};

type Dlsym = extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
type Dlopen = extern "C" fn(*const c_char, c_int) -> *mut c_void;

/// A function that the heap calls only when it exists.
#[derive(Clone, Copy)]
pub(super) enum Symbol {
    GetNewHandler,
    ThrowBadAlloc,
    BeginCatch,
    EndCatch,
    UnwindSetGr,
    UnwindSetIp,
    Dlsym,
}

// One word for each symbol above, in the same order; the (dynamic) linker fills in the address or null.
global_asm!(
    ".weak _ZSt15get_new_handlerv",
    ".weak _ZSt17__throw_bad_allocv",
    ".weak __cxa_begin_catch",
    ".weak __cxa_end_catch",
    ".weak _Unwind_SetGR",
    ".weak _Unwind_SetIP",
    ".weak dlsym",
    ".section .data.rel.ro.allod_cxx_symbols, \"aw\"",
    ".balign 8",
    ".globl allod_cxx_symbols",
    ".hidden allod_cxx_symbols",
    "allod_cxx_symbols:",
    ".quad _ZSt15get_new_handlerv",
    ".quad _ZSt17__throw_bad_allocv",
    ".quad __cxa_begin_catch",
    ".quad __cxa_end_catch",
    ".quad _Unwind_SetGR",
    ".quad _Unwind_SetIP",
    ".quad dlsym",
    ".text",
);

unsafe extern "C" {
    static allod_cxx_symbols: [*mut c_void; 7];
}

/// The libraries that may hold the runtime: GNU's, LLVM's two halves, and the unwinder.
const LIBRARIES: [&CStr; 4] =
    [c"libstdc++.so.6", c"libc++.so.1", c"libc++abi.so.1", c"libgcc_s.so.1"];

impl Symbol {
    const fn name(self) -> &'static CStr {
        match self {
            Symbol::GetNewHandler => c"_ZSt15get_new_handlerv",
            Symbol::ThrowBadAlloc => c"_ZSt17__throw_bad_allocv",
            Symbol::BeginCatch => c"__cxa_begin_catch",
            Symbol::EndCatch => c"__cxa_end_catch",
            Symbol::UnwindSetGr => c"_Unwind_SetGR",
            Symbol::UnwindSetIp => c"_Unwind_SetIP",
            Symbol::Dlsym => c"dlsym",
        }
    }

    fn linked(self) -> Option<NonNull<c_void>> {
        // SAFETY: the table is written by the linker before any of our code runs, never after.
        NonNull::new(unsafe { allod_cxx_symbols[self as usize] })
    }
}

/// The function `symbol` as an `F`, or `None` when no loaded library defines it.
///
/// # Safety
/// `F` is the type of that function, or a pointer.
pub(super) unsafe fn find<F: Copy>(symbol: Symbol) -> Option<F> {
    symbol
        .linked()
        .or_else(|| LIBRARIES.iter().find_map(|library| find_in(library, symbol)))
        // SAFETY: the caller's contract.
        .map(|address| unsafe { as_function(address) })
}

fn find_in(library: &CStr, symbol: Symbol) -> Option<NonNull<c_void>> {
    // SAFETY: these are the C library's functions of these types.
    let dlsym: Dlsym = unsafe { as_function(Symbol::Dlsym.linked()?) };
    // dlopen is looked up too, because a static program that names it gets a warning from the linker.
    let dlopen = NonNull::new(dlsym(RTLD_DEFAULT, c"dlopen".as_ptr()))?;
    // SAFETY: as above.
    let dlopen: Dlopen = unsafe { as_function(dlopen) };
    let handle = NonNull::new(dlopen(library.as_ptr(), RTLD_LAZY | RTLD_NOLOAD))?;
    NonNull::new(dlsym(handle.as_ptr(), symbol.name().as_ptr()))
}

/// What `dlsym` finds by a name, in a static program nothing.
#[cfg(feature = "hardened")]
pub(crate) fn symbol(handle: *mut c_void, name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the C library's function of this type.
    let dlsym: Dlsym = unsafe { as_function(Symbol::Dlsym.linked()?) };
    NonNull::new(dlsym(handle, name.as_ptr()))
}

/// # Safety
/// `address` is a function of type `F`, or `F` is a pointer.
unsafe fn as_function<F: Copy>(address: NonNull<c_void>) -> F {
    const { assert!(size_of::<F>() == size_of::<NonNull<c_void>>()) };
    // SAFETY: the sizes agree; the caller's contract.
    unsafe { transmute_copy(&address) }
}
