//! The Allod heap: spans and the span map, size classes, front caches, cross-thread frees, large
//! blocks, purging and statistics.
//!
//! All functions are thread-safe, never panic, and return null where memory is out; none touches
//! `errno`. See ARCHITECTURE.md for a walk through `malloc` and `free`.
//!
//! The folders are layers; each uses only those before it, and `tests/layers.rs` reads the order here:
//! `base` → `map` → `source` → `slab` → `mail` → `heap` → `thread` → `purge` → `sample` → `guard` → `profile` → `paths` → `face`.
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

mod base;
mod face;
mod guard;
mod heap;
mod mail;
mod map;
mod paths;
mod profile;
mod purge;
mod sample;
mod slab;
mod source;
mod thread;

pub use base::class::{self, good_size};
pub use base::{layout, settings};
pub use face::first_class::Heap;
pub use face::{page, process, sampling, span};
pub use map::owner::{self, Owner, owner_of};
pub use paths::fast;
pub use purge::turn::{purge_all, purge_thread};

/// The state of the heap at one moment, and the report made of it.
pub mod stats {
    pub use crate::face::json::print_json;
    pub use crate::face::report::print;
    pub use crate::face::stats::*;
}

use crate::base::class::{Class, MEDIUM_LIMIT};
use crate::base::layout::MIN_ALIGN;
use crate::paths::alloc::cleared;
use crate::paths::{alloc, large, release, resize};

/// The version of the heap, as in its package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Takes `size` bytes aligned to 16. The block is the caller's until [`free`].
///
/// Null when memory is out or `size` exceeds `PTRDIFF_MAX`. A size of 0 gives a block of its own.
/// About 2 ns when the thread's front cache has a block.
#[inline(always)]
pub fn malloc(size: usize) -> *mut u8 {
    fast::malloc_or(size, alloc::malloc)
}

/// [`malloc`] without its fast path, for callers that have tried it.
#[inline(always)]
pub fn malloc_slow(size: usize) -> *mut u8 {
    alloc::malloc(size)
}

/// Like [`malloc`], with every byte zero. Pages fresh from the system are not cleared again.
#[inline]
pub fn malloc_zeroed(size: usize) -> *mut u8 {
    if size > class::SMALL_LIMIT {
        return malloc_zeroed_slow(size);
    }
    cleared(malloc(size), size, false)
}

#[inline(never)]
fn malloc_zeroed_slow(size: usize) -> *mut u8 {
    if size > MEDIUM_LIMIT {
        let new = large::alloc(size, 1);
        return cleared(new.block, size, new.clean);
    }
    alloc::zeroed(Class::of(size), size, 1)
}

/// Takes `size` bytes at a multiple of `align`, which must be a power of two. The block is the
/// caller's until [`free`].
///
/// Null when memory is out, or `size` or `align` exceeds `PTRDIFF_MAX`. As fast as [`malloc`] up to
/// an alignment of 64 KiB and a size of 1 MiB; above, the block gets a span of its own.
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
    alloc::aligned(align, size)
}

/// Like [`aligned_alloc`], with every byte zero.
#[inline]
pub fn aligned_alloc_zeroed(align: usize, size: usize) -> *mut u8 {
    if align <= MIN_ALIGN {
        return malloc_zeroed(size);
    }
    match Class::aligned(align, size) {
        Some(class) => alloc::zeroed(class, size, align),
        None => {
            let new = large::alloc(size, align);
            cleared(new.block, size, new.clean)
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
    unsafe { fast::free_or(p, release::free) }
}

/// Bytes usable at `p`, at least what was asked for; 0 for null and for what is not a block.
///
/// # Safety
/// `p` is null or a live block.
pub unsafe fn usable_size(p: *mut u8) -> usize {
    // SAFETY: the caller's contract.
    unsafe { resize::usable_size(p) }
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
    unsafe { resize::realloc(p, MIN_ALIGN, size, malloc) }
}

/// Resizes a block whose address must stay a multiple of `align`, a power of two. Otherwise like
/// [`realloc`].
///
/// # Safety
/// As for [`realloc`].
pub unsafe fn realloc_aligned(p: *mut u8, align: usize, size: usize) -> *mut u8 {
    // SAFETY: the caller's contract.
    unsafe { resize::realloc(p, align, size, |size| aligned_alloc(align, size)) }
}

/// Frees a block of `size` bytes, as last asked for: like [`free`], and a little faster up to 4 KiB. A
/// size beyond the block's is reported where that shows.
///
/// # Safety
/// As for [`free`], and `size` is what the block was asked for with, or resized to.
#[inline(always)]
pub unsafe fn free_sized(p: *mut u8, size: usize) {
    // SAFETY: the caller's contract.
    unsafe { fast::free_sized_or(p, size, |p| release::free_sized(p, size, false)) }
}

/// Frees a block of `size` bytes that was never resized: like [`free_sized`], and a size of another
/// class than the block's is reported, too. For C++'s sized `operator delete`.
///
/// # Safety
/// As for [`free`], and `size` is what the block was asked for with.
#[inline(always)]
pub unsafe fn delete_sized(p: *mut u8, size: usize) {
    // SAFETY: the caller's contract.
    unsafe { fast::free_sized_or(p, size, |p| release::free_sized(p, size, true)) }
}

/// Frees a block of a layout, as Rust's allocators know it: like [`free`], and a little faster for
/// sizes up to 4 KiB at alignments up to 16.
///
/// # Safety
/// As for [`free`], and the block was asked for with this alignment and size, or resized to it.
#[inline(always)]
pub unsafe fn dealloc(p: *mut u8, align: usize, size: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        if align > MIN_ALIGN {
            return free(p);
        }
        fast::free_sized_or(p, size, |p| fast::free_or(p, release::free));
    }
}
