//! The functions of the C standard that take no alignment.

use crate::errno::{fail, or_enomem};
use allod_heap::{Origin, came_from};
use libc::{ENOMEM, c_void};

/// C `malloc`: `size` bytes aligned to 16, or null with `ENOMEM`.
///
/// A size of 0 gives a unique pointer that may be freed.
#[unsafe(no_mangle)]
pub extern "C" fn malloc(size: usize) -> *mut c_void {
    allod_heap::malloc_from(size, Origin::Malloc, malloc_slow).cast()
}

/// The rest of [`malloc`], apart so that its fast path needs no stack frame.
#[cold]
#[inline(never)]
fn malloc_slow(size: usize) -> *mut u8 {
    or_enomem(allod_heap::malloc_slow(size)).cast()
}

/// C `calloc`: `count * size` zero bytes, or null with `ENOMEM` (also when the product overflows).
#[unsafe(no_mangle)]
pub extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        Some(bytes) => or_enomem(came_from(allod_heap::malloc_zeroed(bytes), Origin::Malloc)),
        None => fail(ENOMEM),
    }
}

/// C `realloc`, with glibc's meaning of size 0: the block is freed and null returned.
///
/// A null `block` makes it `malloc`. On failure the old block is untouched and `errno` is `ENOMEM`.
///
/// # Safety
/// `block` is null or a live block of this heap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    if size == 0 && !block.is_null() {
        // SAFETY: the caller's contract.
        unsafe { free(block) };
        return core::ptr::null_mut();
    }
    // SAFETY: the caller's contract.
    or_enomem(unsafe { allod_heap::realloc(block.cast(), size) })
}

/// `reallocarray`: `realloc` to `count * size` bytes; `ENOMEM` when the product overflows.
///
/// # Safety
/// `block` is null or a live block of this heap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reallocarray(
    block: *mut c_void,
    count: usize,
    size: usize,
) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: the caller's contract.
        Some(bytes) => unsafe { realloc(block, bytes) },
        None => fail(ENOMEM),
    }
}

/// C `free`: gives a block back; null is ignored. `errno` is preserved.
///
/// # Safety
/// `block` is null or a live block of this heap, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut c_void) {
    // SAFETY: the caller's contract.
    unsafe { allod_heap::free_from(block.cast(), Origin::Malloc) }
}

/// C23 `free_sized`: `free` for a block from `malloc`, `calloc` or `realloc` of exactly `size` bytes.
///
/// # Safety
/// As [`free`]; `size` is the size that was asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_sized(block: *mut c_void, size: usize) {
    // SAFETY: the caller's contract.
    unsafe { allod_heap::free_sized(block.cast(), size) }
}

/// C23 `free_aligned_sized`: `free` for a block from `aligned_alloc` with this alignment and size.
///
/// # Safety
/// As [`free`]; `align` and `size` are what was asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_aligned_sized(block: *mut c_void, align: usize, size: usize) {
    // SAFETY: the caller's contract.
    unsafe { allod_heap::delete_aligned_sized(block.cast(), align, size, Origin::Malloc) }
}

/// SunOS `cfree`, an old name of `free` that glibc still answers to.
///
/// # Safety
/// As [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfree(block: *mut c_void) {
    // SAFETY: the caller's contract.
    unsafe { free(block) }
}
