//! What the dynamic linker knows: symbols that may be missing, and libraries that must stay.
//!
//! Symbols are weak references, null where nobody defines them: programs without shared libraries and older
//! C libraries, which have some of them in libraries of their own.

use core::ffi::{CStr, c_void};

/// The address of a weak symbol from the global offset table, null where nobody defines it.
#[cfg(target_arch = "x86_64")]
macro_rules! weak_address {
    ($symbol:literal) => {{
        let address: *mut c_void;
        // SAFETY: reads a word of the table.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("mov {p}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                p = out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        address
    }};
}

/// The same on aarch64.
#[cfg(target_arch = "aarch64")]
macro_rules! weak_address {
    ($symbol:literal) => {{
        let address: *mut c_void;
        // SAFETY: reads a word of the table.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("adrp {p}, :got:", $symbol),
                concat!("ldr {p}, [{p}, :got_lo12:", $symbol, "]"),
                p = out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        address
    }};
}

/// Elsewhere there is none.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
macro_rules! weak_address {
    ($symbol:literal) => {
        core::ptr::null_mut()
    };
}

/// Defines a function that gives the address of a symbol of the C library, null where it has none.
macro_rules! weak_symbol {
    ($(#[$doc:meta])* $vis:vis fn $name:ident = $symbol:literal) => {
        $(#[$doc])*
        $vis fn $name() -> *mut c_void {
            weak_address!($symbol)
        }
    };
}

weak_symbol! {
    /// The C library's flag `__libc_single_threaded`.
    pub(crate) fn single_threaded = "__libc_single_threaded"
}
weak_symbol! {
    /// `dlopen`, where programs are linked dynamically.
    fn dlopen = "dlopen"
}
weak_symbol! {
    /// `dladdr`, where programs are linked dynamically.
    fn dladdr = "dladdr"
}
weak_symbol! {
    /// `dlsym`, where programs are linked dynamically.
    fn dlsym = "dlsym"
}

/// The definition of a function that comes after the caller's library in the order of search: what the
/// caller stands in front of. Null where there is none.
pub fn next_function(name: &CStr) -> *mut c_void {
    type Dlsym = unsafe extern "C" fn(*mut c_void, *const libc::c_char) -> *mut c_void;
    let dlsym = dlsym();
    if dlsym.is_null() {
        return dlsym;
    }
    // SAFETY: the address is that of the function with this signature; the name is a C string.
    unsafe {
        let dlsym: Dlsym = core::mem::transmute(dlsym);
        dlsym(libc::RTLD_NEXT, name.as_ptr())
    }
}

/// Keeps the shared library that holds `code` loaded until the process ends, whatever is unloaded:
/// hooks that point into it cannot be taken back. Does nothing for code of the program itself.
pub fn stay_loaded(code: extern "C" fn()) {
    type Dladdr = unsafe extern "C" fn(*const c_void, *mut libc::Dl_info) -> libc::c_int;
    type Dlopen = unsafe extern "C" fn(*const libc::c_char, libc::c_int) -> *mut c_void;
    let (dladdr, dlopen) = (dladdr(), dlopen());
    if dladdr.is_null() || dlopen.is_null() {
        return;
    }
    // SAFETY: the addresses are those of the functions with these signatures; `info` is a valid place
    // for the answer, and a library that is named by it is loaded already.
    unsafe {
        let dladdr: Dladdr = core::mem::transmute(dladdr);
        let dlopen: Dlopen = core::mem::transmute(dlopen);
        let mut info: libc::Dl_info = core::mem::zeroed();
        if dladdr(code as *const c_void, &mut info) != 0 && !info.dli_fname.is_null() {
            dlopen(info.dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
        }
    }
}
