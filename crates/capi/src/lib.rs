//! The C face: malloc and friends, for preloading and linking.

use libc::{ENOMEM, c_int, c_void};

fn checked(p: *mut u8) -> *mut c_void {
    if p.is_null() {
        // SAFETY: errno's address is always valid in the calling thread.
        unsafe { *libc::__errno_location() = ENOMEM };
    }
    p.cast()
}

/// C `malloc`.
#[unsafe(no_mangle)]
pub extern "C" fn malloc(n: usize) -> *mut c_void {
    checked(allod_heap::malloc(n))
}

/// C `calloc`.
#[unsafe(no_mangle)]
pub extern "C" fn calloc(n: usize, m: usize) -> *mut c_void {
    checked(n.checked_mul(m).map_or(core::ptr::null_mut(), allod_heap::malloc_zeroed))
}

/// C `free`.
///
/// # Safety
/// As C says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(p: *mut c_void) {
    // SAFETY: the caller's contract.
    unsafe { allod_heap::free(p.cast()) }
}

/// C `realloc`.
///
/// # Safety
/// As C says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(p: *mut c_void, n: usize) -> *mut c_void {
    // SAFETY: the caller's contract.
    checked(unsafe { allod_heap::realloc(p.cast(), n) })
}

/// C `aligned_alloc`.
#[unsafe(no_mangle)]
pub extern "C" fn aligned_alloc(a: usize, n: usize) -> *mut c_void {
    checked(allod_heap::aligned_alloc(a, n))
}

/// C `memalign`.
#[unsafe(no_mangle)]
pub extern "C" fn memalign(a: usize, n: usize) -> *mut c_void {
    checked(allod_heap::aligned_alloc(a, n))
}

/// C `posix_memalign`.
///
/// # Safety
/// `out` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(out: *mut *mut c_void, a: usize, n: usize) -> c_int {
    let p = allod_heap::aligned_alloc(a, n);
    if p.is_null() {
        return ENOMEM;
    }
    // SAFETY: the caller's contract.
    unsafe { *out = p.cast() };
    0
}

/// glibc `malloc_usable_size`.
///
/// # Safety
/// `p` is null or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc_usable_size(p: *mut c_void) -> usize {
    // SAFETY: the caller's contract.
    unsafe { allod_heap::usable_size(p.cast()) }
}
