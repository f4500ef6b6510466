//! The functions declared in `allod/heap.h`.
//!
//! Those that have a standard counterpart behave exactly like it; the header documents all.

use crate::{aligned, glibc, malloc};
use libc::{c_char, c_void};

/// The version of this library, ending in a zero byte.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// The version of the running library as a C string.
#[unsafe(no_mangle)]
pub extern "C" fn allod_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

/// `malloc` by Allod's name.
#[unsafe(no_mangle)]
pub extern "C" fn allod_malloc(size: usize) -> *mut c_void {
    malloc::malloc(size)
}

/// `calloc` by Allod's name.
#[unsafe(no_mangle)]
pub extern "C" fn allod_calloc(count: usize, size: usize) -> *mut c_void {
    malloc::calloc(count, size)
}

/// `realloc` by Allod's name.
///
/// # Safety
/// As [`malloc::realloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_realloc(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's contract.
    unsafe { malloc::realloc(block, size) }
}

/// `reallocarray` by Allod's name.
///
/// # Safety
/// As [`malloc::reallocarray`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_reallocarray(
    block: *mut c_void,
    count: usize,
    size: usize,
) -> *mut c_void {
    // SAFETY: the caller's contract.
    unsafe { malloc::reallocarray(block, count, size) }
}

/// `aligned_alloc` by Allod's name.
#[unsafe(no_mangle)]
pub extern "C" fn allod_aligned_alloc(align: usize, size: usize) -> *mut c_void {
    aligned::aligned_alloc(align, size)
}

/// `free` by Allod's name.
///
/// # Safety
/// As [`malloc::free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_free(block: *mut c_void) {
    // SAFETY: the caller's contract.
    unsafe { malloc::free(block) }
}

/// `free_sized` by Allod's name.
///
/// # Safety
/// As [`malloc::free_sized`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_free_sized(block: *mut c_void, size: usize) {
    // SAFETY: the caller's contract.
    unsafe { malloc::free_sized(block, size) }
}

/// `free_aligned_sized` by Allod's name.
///
/// # Safety
/// As [`malloc::free_aligned_sized`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_free_aligned_sized(block: *mut c_void, align: usize, size: usize) {
    // SAFETY: the caller's contract.
    unsafe { malloc::free_aligned_sized(block, align, size) }
}

/// `malloc_usable_size` by Allod's name.
///
/// # Safety
/// As [`glibc::malloc_usable_size`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_usable_size(block: *const c_void) -> usize {
    // SAFETY: the caller's contract.
    unsafe { glibc::malloc_usable_size(block.cast_mut()) }
}
