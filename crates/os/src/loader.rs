//! What the dynamic linker knows: symbols that may be missing, and libraries that must stay.
//!
//! Symbols are weak references, null where nobody defines them: in programs without shared libraries, and with
//! older C libraries that have some of them in separate libraries.

use crate::errno::keeping_errno;
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

/// The next definition of a function after the caller's library in the search order: the one that the
/// caller interposes. Null where there is none.
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

weak_symbol! {
    /// `_dl_find_object`, which glibc has from 2.35 on.
    fn dl_find_object = "_dl_find_object"
}

/// A program or library that is loaded.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// First byte of its mapping.
    pub start: usize,
    /// The end of it.
    pub end: usize,
    /// The load bias: what is added to the addresses in its file.
    pub base: usize,
    /// Its unwind tables (`.eh_frame_hdr`); 0 where the C library knows of none, as in a static program.
    pub tables: usize,
    /// The path of its file; empty for the program itself.
    pub path: &'static CStr,
}

/// glibc's `struct dl_find_object`.
#[repr(C)]
struct Found {
    flags: u64,
    start: usize,
    end: usize,
    link_map: *const LinkMap,
    tables: usize,
    reserved: [u64; 8],
}

/// The part of the linker's `struct link_map` that anybody may read.
#[repr(C)]
struct LinkMap {
    base: usize,
    path: *const libc::c_char,
}

/// The program or library whose code is at an address. Takes no lock, and may be called in a signal handler.
/// `None` where there is none, and where the C library is older than 2.35 or not glibc.
///
/// What it refers to stays while the code does.
pub fn code_at(pc: usize) -> Option<Code> {
    type Find = unsafe extern "C" fn(usize, *mut Found) -> libc::c_int;
    let find = dl_find_object();
    if find.is_null() {
        return None;
    }
    // SAFETY: the address is that of the function with this signature, which fills in the answer when it
    // returns 0. The program itself has no name, or an empty one.
    unsafe {
        let find: Find = core::mem::transmute(find);
        let mut found: Found = core::mem::zeroed();
        if find(pc, &mut found) != 0 || found.link_map.is_null() {
            return None;
        }
        let LinkMap { base, path } = *found.link_map;
        let path = if path.is_null() { c"" } else { CStr::from_ptr(path) };
        Some(Code { start: found.start, end: found.end, base, tables: found.tables, path })
    }
}

/// The path of the program, ending in a zero byte, as far as it fits into the buffer.
pub fn program_path(buffer: &mut [u8]) -> &CStr {
    let room = buffer.len() - 1;
    // SAFETY: at most so many bytes are written.
    let len = keeping_errno(|| unsafe {
        libc::readlink(c"/proc/self/exe".as_ptr(), buffer.as_mut_ptr().cast(), room)
    });
    buffer[len.max(0) as usize] = 0;
    CStr::from_bytes_until_nul(buffer).unwrap_or(c"")
}

/// Keeps the shared library that holds `code` loaded until the process ends, whatever is unloaded:
/// hooks that point into it cannot be unregistered. Does nothing for code of the program itself.
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
