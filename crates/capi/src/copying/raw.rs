//! Copying itself. The C library's functions are found by name when the library is loaded; before that, and in a
//! static program, loops in assembly do, which no compiler can turn back into calls.

use core::arch::asm;
use core::ffi::CStr;
use core::mem::transmute;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use libc::{RTLD_NEXT, c_int, c_void};

type Copy = unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void;
type Fill = unsafe extern "C" fn(*mut c_void, c_int, usize) -> *mut c_void;

/// A function of the C library's, once it is found.
struct Found(AtomicPtr<c_void>);

static COPY: Found = Found(AtomicPtr::new(ptr::null_mut()));
static SHIFT: Found = Found(AtomicPtr::new(ptr::null_mut()));
static FILL: Found = Found(AtomicPtr::new(ptr::null_mut()));

impl Found {
    fn find(&self, name: &CStr) {
        if let Some(address) = crate::cxx::next_symbol(RTLD_NEXT, name) {
            self.0.store(address.as_ptr(), Relaxed);
        }
    }

    #[inline]
    fn get(&self) -> Option<*mut c_void> {
        let found = self.0.load(Relaxed);
        (!found.is_null()).then_some(found)
    }
}

/// Finds the C library's functions.
pub fn find() {
    COPY.find(c"memcpy");
    SHIFT.find(c"memmove");
    FILL.find(c"memset");
}

/// `memcpy`.
///
/// # Safety
/// As for `memcpy`.
#[inline]
pub unsafe fn copy(to: *mut c_void, from: *const c_void, n: usize) -> *mut c_void {
    // SAFETY: the caller's contract; what was found has this type.
    unsafe {
        match COPY.get() {
            Some(found) => transmute::<*mut c_void, Copy>(found)(to, from, n),
            None => copy_up(to, from, n),
        }
    }
}

/// `memmove`.
///
/// # Safety
/// As for `memmove`.
#[inline]
pub unsafe fn shift(to: *mut c_void, from: *const c_void, n: usize) -> *mut c_void {
    // SAFETY: the caller's contract; what was found has this type.
    unsafe {
        match SHIFT.get() {
            Some(found) => transmute::<*mut c_void, Copy>(found)(to, from, n),
            None if (to as usize).wrapping_sub(from as usize) >= n => copy_up(to, from, n),
            None => copy_down(to, from, n),
        }
    }
}

/// `memset`.
///
/// # Safety
/// As for `memset`.
#[inline]
pub unsafe fn fill(to: *mut c_void, byte: c_int, n: usize) -> *mut c_void {
    // SAFETY: the caller's contract; what was found has this type.
    unsafe {
        match FILL.get() {
            Some(found) => transmute::<*mut c_void, Fill>(found)(to, byte, n),
            None => fill_up(to, byte, n),
        }
    }
}

/// Copies from the lowest byte on.
#[inline(never)]
unsafe fn copy_up(to: *mut c_void, from: *const c_void, n: usize) -> *mut c_void {
    let (mut at, mut source) = (to.cast::<u8>(), from.cast::<u8>());
    let end = at.wrapping_add(n);
    while at != end {
        // SAFETY: the caller's contract. The assembly keeps this a loop.
        unsafe {
            at.write(source.read());
            asm!("/* {0} */", in(reg) at, options(nostack, preserves_flags));
            (at, source) = (at.add(1), source.add(1));
        }
    }
    to
}

/// Copies from the highest byte on.
#[inline(never)]
unsafe fn copy_down(to: *mut c_void, from: *const c_void, n: usize) -> *mut c_void {
    for i in (0..n).rev() {
        // SAFETY: the caller's contract. The assembly keeps this a loop.
        unsafe {
            let at = to.cast::<u8>().add(i);
            at.write(from.cast::<u8>().add(i).read());
            asm!("/* {0} */", in(reg) at, options(nostack, preserves_flags));
        }
    }
    to
}

/// Writes one byte everywhere.
#[inline(never)]
unsafe fn fill_up(to: *mut c_void, byte: c_int, n: usize) -> *mut c_void {
    for i in 0..n {
        // SAFETY: the caller's contract. The assembly keeps this a loop.
        unsafe {
            let at = to.cast::<u8>().add(i);
            at.write(byte as u8);
            asm!("/* {0} */", in(reg) at, options(nostack, preserves_flags));
        }
    }
    to
}
