//! The Allod heap: spans and the span map, size classes, front caches, cross-thread frees, large
//! blocks, purging and statistics.
//!
//! All functions are thread-safe, never panic, and return null where memory is out; none touches
//! `errno`. See ARCHITECTURE.md for a walk through `malloc` and `free`.
//!
//! ```
//! let p = allod_heap::malloc(100);
//! assert!(!p.is_null());
//! // SAFETY: `p` is ours, of at least 100 bytes, and not used after `free`.
//! unsafe {
//!     p.write_bytes(7, 100);
//!     allod_heap::free(p);
//! }
//! ```
#![no_std]

pub mod class;
pub mod fast;
mod first_class;
mod heap;
mod helper;
mod idle;
mod inbox;
mod knobs;
mod large;
pub mod layout;
mod map;
pub mod owner;
mod post;
mod purge;
mod record;
mod remote;
mod report;
pub mod settings;
mod slab;
mod slow;
mod source;
pub mod span;
pub mod stats;
mod sync;
mod thread;

pub use class::good_size;
pub use first_class::Heap;
pub use owner::{Owner, owner_of};
pub use purge::{purge_all, purge_thread};

use crate::class::{FINE_LIMIT, MEDIUM_LIMIT};
use crate::layout::{MAX_SIZE, MIN_ALIGN};
use crate::map::MAP;
use crate::record::{Kind, Span};
use crate::report::{Misuse, misuse};
use core::ptr;

/// The version of the heap, as in its package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Takes `size` bytes aligned to 16. The block is the caller's until [`free`].
///
/// Null when memory is out or `size` exceeds `PTRDIFF_MAX`. A size of 0 gives a block of its own.
/// About 2 ns when the thread's front cache has a block.
#[inline(always)]
pub fn malloc(size: usize) -> *mut u8 {
    fast::malloc_or(size, slow::malloc)
}

/// [`malloc`] without its fast path, for callers that have tried it.
#[inline(always)]
pub fn malloc_slow(size: usize) -> *mut u8 {
    slow::malloc(size)
}

/// Like [`malloc`], with every byte zero. Pages fresh from the system are not cleared again.
#[inline]
pub fn malloc_zeroed(size: usize) -> *mut u8 {
    if size > FINE_LIMIT {
        return malloc_zeroed_large(size);
    }
    zeroed(malloc(size), size, false)
}

#[inline(never)]
fn malloc_zeroed_large(size: usize) -> *mut u8 {
    if size > MEDIUM_LIMIT {
        let new = large::alloc(size, 1);
        return zeroed(new.block, size, new.clean);
    }
    zeroed(malloc(size), size, false)
}

/// Clears a new block unless it is clean or null.
#[inline(always)]
pub(crate) fn zeroed(block: *mut u8, size: usize, clean: bool) -> *mut u8 {
    if !block.is_null() && !clean {
        // SAFETY: the block is new and holds `size` bytes.
        unsafe { ptr::write_bytes(block, 0, size) };
    }
    block
}

/// Takes `size` bytes at a multiple of `align`, which must be a power of two. The block is the
/// caller's until [`free`].
///
/// Null when memory is out, or `size` or `align` exceeds `PTRDIFF_MAX`. As fast as [`malloc`] up to
/// an alignment of 4096 and about 28 KiB; above, the block gets a span of its own.
///
/// ```
/// let p = allod_heap::aligned_alloc(4096, 100);
/// assert_eq!(p as usize % 4096, 0);
/// // SAFETY: allocated above.
/// unsafe { allod_heap::free(p) };
/// ```
#[inline]
pub fn aligned_alloc(align: usize, size: usize) -> *mut u8 {
    debug_assert!(align.is_power_of_two());
    if align <= MIN_ALIGN {
        return malloc(size);
    }
    slow::aligned(align, size)
}

/// Like [`aligned_alloc`], with every byte zero.
#[inline]
pub fn aligned_alloc_zeroed(align: usize, size: usize) -> *mut u8 {
    if align <= MIN_ALIGN {
        return malloc_zeroed(size);
    }
    match slow::aligned_class(align, size) {
        Some(class) => zeroed(slow::malloc_class(class), size, false),
        None => {
            let new = large::alloc(size, align);
            zeroed(new.block, size, new.clean)
        }
    }
}

/// Frees a block; null is ignored. Any thread may free any block.
///
/// A pointer that is no block of this heap, or a block that is free already where that shows, is
/// reported on stderr and ends the process (or, with `ALLOD_ABORT=0`, is ignored). About 2 ns for a
/// block of the calling thread's own, 5 ns for another's.
///
/// # Safety
/// `p` is null or a block of this heap that nobody uses any more.
#[inline(always)]
pub unsafe fn free(p: *mut u8) {
    // SAFETY: the caller's contract.
    unsafe { fast::free_or(p, slow::free) }
}

/// Bytes usable at `p`, at least what was asked for; 0 for null and for what is not a block.
///
/// # Safety
/// `p` is null or a live block.
pub unsafe fn usable_size(p: *mut u8) -> usize {
    // SAFETY: the caller's contract.
    match unsafe { block_at(p) } {
        // SAFETY: the record of the live block's span.
        Some(span) => unsafe { usable_in(span) },
        None => 0,
    }
}

/// The span of a live block; `None` for null and for what is not the start of a block.
unsafe fn block_at(p: *mut u8) -> Option<*mut Span> {
    let bin = MAP.bin_of(p)?;
    // SAFETY: map entries point to bins, records of entered spans are valid.
    unsafe {
        if let Some(span) = MAP.span_of_bin(bin) {
            return ((*span).kind() == Kind::Large && (*span).start == p as usize).then_some(span);
        }
        MAP.heap_of_bin(bin).map(|_| owner::slab_of(p))
    }
}

unsafe fn usable_in(span: *mut Span) -> usize {
    // SAFETY: the record of a live span.
    unsafe {
        if (*span).kind() == Kind::Large { large::usable(span) } else { (*span).size as usize }
    }
}

/// Resizes a block, moving it when needed. The contents up to the smaller size are kept.
///
/// Null when memory is out or `size` exceeds `PTRDIFF_MAX`; the old block is untouched then. A null
/// `p` makes a new block. A size of 0 gives a block of the smallest size. Large blocks grow in
/// place or by moving pages, not bytes.
///
/// # Safety
/// `p` is null or a live block; after success only the result is used.
#[inline]
pub unsafe fn realloc(p: *mut u8, size: usize) -> *mut u8 {
    // SAFETY: the caller's contract.
    unsafe { realloc_with(p, size, malloc) }
}

#[inline]
pub(crate) unsafe fn realloc_with(
    p: *mut u8,
    size: usize,
    malloc: impl FnOnce(usize) -> *mut u8,
) -> *mut u8 {
    if p.is_null() {
        return malloc(size);
    }
    // SAFETY: the caller's contract: a live block, and its span's record.
    unsafe {
        let Some(span) = block_at(p) else {
            misuse("realloc", p, Misuse::NotABlock);
            return ptr::null_mut();
        };
        let usable = usable_in(span);
        let large = (*span).kind() == Kind::Large;
        if !large && size <= usable && size > usable / 2 {
            return p;
        }
        if size > MAX_SIZE {
            return ptr::null_mut();
        }
        if large || size > large::GROWING_FROM {
            let q = large::realloc(span, p, size, usable);
            if !q.is_null() {
                return q;
            }
        }
        let q = malloc(size);
        if q.is_null() {
            // A block that shrinks need not move.
            return if size <= usable && !large { p } else { q };
        }
        ptr::copy_nonoverlapping(p, q, usable.min(size));
        free(p);
        q
    }
}

/// Resizes a block whose address must stay a multiple of `align`, a power of two. Otherwise like
/// [`realloc`].
///
/// # Safety
/// As for [`realloc`].
pub unsafe fn realloc_aligned(p: *mut u8, align: usize, size: usize) -> *mut u8 {
    if align <= MIN_ALIGN {
        // SAFETY: the caller's contract.
        return unsafe { realloc(p, size) };
    }
    // SAFETY: the caller's contract.
    unsafe {
        let old = usable_size(p);
        if !p.is_null() && size <= old && size > old / 2 {
            return p;
        }
        let q = aligned_alloc(align, size);
        if !p.is_null() && !q.is_null() {
            ptr::copy_nonoverlapping(p, q, old.min(size));
            free(p);
        }
        q
    }
}

/// Frees a block of `size` bytes as asked for at its allocation: the same as [`free`], for callers
/// who know the size.
///
/// # Safety
/// As for [`free`], and `size` is what the block was asked for with.
#[inline(always)]
pub unsafe fn free_sized(p: *mut u8, size: usize) {
    let _ = size;
    // SAFETY: the caller's contract.
    unsafe { free(p) }
}
