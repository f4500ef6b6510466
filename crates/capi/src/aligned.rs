//! Allocation with an alignment: C23, POSIX and glibc's own.

use crate::errno::{self, fail, or_enomem};
use allod_os::vm::page_size;
use core::mem::size_of;
use libc::{EINVAL, ENOMEM, c_int, c_void};

/// C23 `aligned_alloc`: `EINVAL` unless `align` is a power of two; `ENOMEM` when memory is out.
///
/// `size` need not be a multiple of `align` (C17's corrigendum dropped that demand).
#[unsafe(no_mangle)]
pub extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
    if !align.is_power_of_two() {
        return fail(EINVAL);
    }
    or_enomem(allod_heap::aligned_alloc(align, size))
}

/// glibc `memalign`: like [`aligned_alloc`], but rounds `align` up to a power of two as glibc does.
///
/// `EINVAL` when no power of two is large enough.
#[unsafe(no_mangle)]
pub extern "C" fn memalign(align: usize, size: usize) -> *mut c_void {
    match align.checked_next_power_of_two() {
        Some(align) => or_enomem(allod_heap::aligned_alloc(align, size)),
        None => fail(EINVAL),
    }
}

/// POSIX `posix_memalign`: stores the block in `*out` and returns 0, or returns an error number.
///
/// `EINVAL` unless `align` is a power of two and a multiple of the size of a pointer, `ENOMEM` when
/// memory is out; in both cases `*out` is untouched. Out of memory also sets `errno`, as glibc does and
/// programs rely on; otherwise it is left alone.
///
/// # Safety
/// `out` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(out: *mut *mut c_void, align: usize, size: usize) -> c_int {
    if !align.is_power_of_two() || align < size_of::<*mut c_void>() {
        return EINVAL;
    }
    let block = allod_heap::aligned_alloc(align, size);
    if block.is_null() {
        errno::set(ENOMEM);
        return ENOMEM;
    }
    // SAFETY: the caller's contract.
    unsafe { *out = block.cast() };
    0
}

/// `valloc`: `size` bytes aligned to a page.
#[unsafe(no_mangle)]
pub extern "C" fn valloc(size: usize) -> *mut c_void {
    or_enomem(allod_heap::aligned_alloc(page_size(), size))
}

/// `pvalloc`: whole pages, enough for `size` bytes; `ENOMEM` when rounding up overflows.
#[unsafe(no_mangle)]
pub extern "C" fn pvalloc(size: usize) -> *mut c_void {
    match size.checked_next_multiple_of(page_size()) {
        Some(bytes) => or_enomem(allod_heap::aligned_alloc(page_size(), bytes)),
        None => fail(ENOMEM),
    }
}
