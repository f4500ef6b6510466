//! First-class heaps: the `allod_heap_*` functions of `allod/heap.h`.

use crate::errno::{fail, or_enomem};
use allod_heap::Heap;
use core::mem::transmute;
use core::ptr::NonNull;
use libc::{EINVAL, ENOMEM, c_void};

/// What C sees of a first-class heap: an address to hand back.
#[repr(C)]
pub struct Handle {
    _private: [u8; 0],
}

const _: () = assert!(size_of::<Heap>() == size_of::<NonNull<Handle>>());

/// # Safety
/// `handle` came from [`allod_heap_new`] and was not destroyed.
unsafe fn heap_of(handle: NonNull<Handle>) -> Heap {
    // SAFETY: `allod_heap_new` made the handle from a heap, which is one address.
    unsafe { transmute::<NonNull<Handle>, Heap>(handle) }
}

/// Makes an empty heap, or null with `ENOMEM`.
#[unsafe(no_mangle)]
pub extern "C" fn allod_heap_new() -> *mut Handle {
    match Heap::new() {
        // SAFETY: a heap is one address that is not null.
        Some(heap) => unsafe { transmute::<Heap, NonNull<Handle>>(heap) }.as_ptr(),
        None => fail(ENOMEM).cast(),
    }
}

/// `malloc` from a heap.
///
/// # Safety
/// `heap` came from [`allod_heap_new`] and was not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_heap_malloc(heap: NonNull<Handle>, size: usize) -> *mut c_void {
    // SAFETY: the caller's contract.
    or_enomem(unsafe { heap_of(heap) }.malloc(size))
}

/// `calloc` from a heap.
///
/// # Safety
/// As [`allod_heap_malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_heap_calloc(
    heap: NonNull<Handle>,
    count: usize,
    size: usize,
) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: the caller's contract.
        Some(bytes) => or_enomem(unsafe { heap_of(heap) }.malloc_zeroed(bytes)),
        None => fail(ENOMEM),
    }
}

/// `realloc` of a block of a heap; the result is a block of the same heap.
///
/// # Safety
/// As [`allod_heap_malloc`]; `block` is null or a live block of that heap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_heap_realloc(
    heap: NonNull<Handle>,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    if size == 0 && !block.is_null() {
        // SAFETY: the caller's contract.
        unsafe { allod_heap::free(block.cast()) };
        return core::ptr::null_mut();
    }
    // SAFETY: the caller's contract.
    or_enomem(unsafe { heap_of(heap).realloc(block.cast(), size) })
}

/// `aligned_alloc` from a heap.
///
/// # Safety
/// As [`allod_heap_malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_heap_aligned_alloc(
    heap: NonNull<Handle>,
    align: usize,
    size: usize,
) -> *mut c_void {
    if !align.is_power_of_two() {
        return fail(EINVAL);
    }
    // SAFETY: the caller's contract.
    or_enomem(unsafe { heap_of(heap) }.aligned_alloc(align, size))
}

/// Frees all blocks of a heap at once and ends it; null is ignored.
///
/// # Safety
/// `heap` is null or came from [`allod_heap_new`]; neither it nor its blocks are used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn allod_heap_destroy(heap: Option<NonNull<Handle>>) {
    if let Some(heap) = heap {
        // SAFETY: the caller's contract.
        unsafe { heap_of(heap).destroy() }
    }
}
