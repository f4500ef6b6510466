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
#![cfg_attr(docsrs, feature(doc_cfg))]
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
pub use base::layout;
pub use face::first_class::Heap;
pub use face::{page, process, sampling, settings, span};
pub use map::misuse::{Handler, Misuse, Report, set_misuse_handler};
pub use map::owner::{self, Owner, owner_of};
#[cfg(feature = "hardened")]
pub use paths::bounds;
pub use paths::calls::Origin;
pub use purge::turn::{purge_all, purge_thread};

/// The state of the heap at one moment, and the report made of it.
pub mod stats {
    pub use crate::face::json::print_json;
    pub use crate::face::report::print;
    pub use crate::face::stats::*;
}

use crate::map::misuse::misuse;
use crate::paths::calls;

/// The version of the heap, as in its package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Allocates `size` bytes aligned to 16. The block is the caller's until [`free`].
///
/// Null when memory is out or `size` exceeds `PTRDIFF_MAX`. A size of 0 gives a block of its own.
/// About 2 ns when the thread's front cache has a block.
#[inline(always)]
pub fn malloc(size: usize) -> *mut u8 {
    calls::malloc(size)
}

/// [`malloc`] without its fast path, for callers that have tried it.
#[inline(always)]
pub fn malloc_slow(size: usize) -> *mut u8 {
    calls::malloc_slow(size)
}

/// [`malloc`] with a slow path of the caller's: `slow` is called when the fast path has no block. It may call
/// [`malloc_slow`].
#[inline(always)]
pub fn malloc_or(size: usize, slow: impl FnOnce(usize) -> *mut u8) -> *mut u8 {
    calls::malloc_from(size, Origin::Any, slow)
}

/// [`malloc_or`] for a family of functions, as [`came_from`] notes it.
#[inline(always)]
pub fn malloc_from(size: usize, origin: Origin, slow: impl FnOnce(usize) -> *mut u8) -> *mut u8 {
    calls::malloc_from(size, origin, slow)
}

/// Notes which family of functions allocated a new block, and returns it. Only the hardened build does so,
/// to detect blocks that are freed by another family.
#[inline(always)]
pub fn came_from(block: *mut u8, origin: Origin) -> *mut u8 {
    calls::came_from(block, origin)
}

/// Like [`malloc`], with every byte zero. Pages fresh from the system are not cleared again.
#[inline]
pub fn malloc_zeroed(size: usize) -> *mut u8 {
    calls::zeroed(size)
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
    calls::aligned(align, size)
}

/// Like [`aligned_alloc`], with every byte zero.
#[inline]
pub fn aligned_alloc_zeroed(align: usize, size: usize) -> *mut u8 {
    calls::aligned_zeroed(align, size)
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
    unsafe { calls::free(p) }
}

/// [`free`] by a family of functions, which must be the one that [allocated](came_from) the block.
///
/// # Safety
/// As for [`free`].
#[inline(always)]
pub unsafe fn free_from(p: *mut u8, origin: Origin) {
    // SAFETY: the caller's contract.
    unsafe { calls::free_from(p, origin) }
}

/// Bytes usable at `p`, at least what was asked for; 0 for null and for what is not a block.
///
/// # Safety
/// `p` is null or a live block.
pub unsafe fn usable_size(p: *mut u8) -> usize {
    // SAFETY: the caller's contract.
    unsafe { calls::usable_size(p) }
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
    unsafe { calls::realloc(p, size) }
}

/// Resizes a block whose address must stay a multiple of `align`, a power of two. Otherwise like
/// [`realloc`].
///
/// # Safety
/// As for [`realloc`].
pub unsafe fn realloc_aligned(p: *mut u8, align: usize, size: usize) -> *mut u8 {
    // SAFETY: the caller's contract.
    unsafe { calls::realloc_by(p, align, size, |size| aligned_alloc(align, size)) }
}

/// Frees a block of `size` bytes, as last requested: like [`free`], and a little faster up to 4 KiB. A
/// size beyond the block's is reported where that shows.
///
/// # Safety
/// As for [`free`], and `size` is what the block was asked for with, or resized to.
#[inline(always)]
pub unsafe fn free_sized(p: *mut u8, size: usize) {
    // SAFETY: the caller's contract.
    unsafe { calls::free_sized(p, size) }
}

/// Frees a block of `size` bytes that was never resized: like [`free_sized`], and a size of another
/// class than the block's is reported, too. For C++'s sized `operator delete`.
///
/// # Safety
/// As for [`free`], and `size` is what the block was asked for with.
#[inline(always)]
pub unsafe fn delete_sized(p: *mut u8, size: usize, origin: Origin) {
    // SAFETY: the caller's contract.
    unsafe { calls::free_sized_from(p, size, origin) }
}

/// [`free_from`] for a block that was allocated at a multiple of `align`: a block that does not
/// lie at one is reported.
///
/// # Safety
/// As for [`free_from`].
#[inline(always)]
pub unsafe fn delete_aligned(p: *mut u8, align: usize, origin: Origin) {
    if (p as usize) & align.wrapping_sub(1) != 0 {
        return misuse("free", p, Misuse::WrongAlign(align));
    }
    // SAFETY: the caller's contract.
    unsafe { calls::free_from(p, origin) }
}

/// The same with the size that the block was allocated with. Where sizes are exact, in the hardened build, a wrong
/// one is reported.
///
/// # Safety
/// As for [`free_from`], and `size` is that size.
#[inline(always)]
pub unsafe fn delete_aligned_sized(p: *mut u8, align: usize, size: usize, origin: Origin) {
    if (p as usize) & align.wrapping_sub(1) != 0 {
        return misuse("free_sized", p, Misuse::WrongAlign(align));
    }
    // SAFETY: the caller's contract.
    unsafe { calls::free_aligned_sized_from(p, size, origin) }
}

/// Frees a block of a layout, as Rust's allocators know it: like [`free`], and a little faster for
/// sizes up to 4 KiB at alignments up to 16.
///
/// # Safety
/// As for [`free`], and the block was asked for with this alignment and size, or resized to it.
#[inline(always)]
pub unsafe fn dealloc(p: *mut u8, align: usize, size: usize) {
    // SAFETY: the caller's contract.
    unsafe { calls::dealloc(p, align, size) }
}

/// The programs on this crate's page are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page_of_the_crate {}
