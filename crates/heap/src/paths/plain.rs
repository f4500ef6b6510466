//! What the public calls do in the default build.

use crate::base::class::{Class, MEDIUM_LIMIT, SMALL_LIMIT};
use crate::base::layout::MIN_ALIGN;
use crate::heap::heap::Heap;
use crate::map::bin::heap_and_class;
use crate::map::misuse::{Misuse, misuse};
use crate::map::span_map::MAP;
use crate::paths::zeroed::{self, cleared};
use crate::paths::{alloc, fast, large, release, resize};

/// By which family of functions a block was asked for: not remembered in this build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Not known, or a family that pairs with all others.
    Any,
    /// `malloc` and its relatives.
    Malloc,
    /// `operator new`.
    New,
    /// `operator new[]`.
    NewArray,
}

/// `malloc` for a family of functions; `slow` is asked where the fast path has nothing.
#[inline(always)]
pub fn malloc_from(size: usize, _origin: Origin, slow: impl FnOnce(usize) -> *mut u8) -> *mut u8 {
    fast::malloc_or(size, slow)
}

/// `malloc`.
#[inline(always)]
pub fn malloc(size: usize) -> *mut u8 {
    fast::malloc_or(size, alloc::malloc)
}

/// `malloc` without its fast path.
#[inline(always)]
pub fn malloc_slow(size: usize) -> *mut u8 {
    alloc::malloc(size)
}

/// `malloc`, with every byte zero.
#[inline]
pub fn zeroed(size: usize) -> *mut u8 {
    if size > SMALL_LIMIT {
        return zeroed_slow(size);
    }
    cleared(malloc(size), size, false)
}

#[inline(never)]
fn zeroed_slow(size: usize) -> *mut u8 {
    if size > MEDIUM_LIMIT {
        let new = large::alloc(size, 1);
        return cleared(new.block, size, new.clean);
    }
    zeroed::block(Class::of(size), size, 1)
}

/// A block at a multiple of `align`, a power of two.
#[inline]
pub fn aligned(align: usize, size: usize) -> *mut u8 {
    if align <= MIN_ALIGN {
        return malloc(size);
    }
    aligned_more(align, size)
}

/// A block of `size` bytes at a multiple of `align`, a power of two above 16.
#[inline(never)]
fn aligned_more(align: usize, size: usize) -> *mut u8 {
    match Class::aligned(align, size) {
        Some(class) => alloc::malloc_class(class, size, align),
        None => large::alloc(size, align).block,
    }
}

/// The same, with every byte zero.
#[inline]
pub fn aligned_zeroed(align: usize, size: usize) -> *mut u8 {
    if align <= MIN_ALIGN {
        return zeroed(size);
    }
    match Class::aligned(align, size) {
        Some(class) => zeroed::block(class, size, align),
        None => {
            let new = large::alloc(size, align);
            cleared(new.block, size, new.clean)
        }
    }
}

/// A block of a first-class heap at a multiple of `align`.
///
/// # Safety
/// `h` is a shared heap.
pub unsafe fn heap_aligned(h: *mut Heap, align: usize, size: usize) -> *mut u8 {
    let class = match align <= MIN_ALIGN {
        true if size > MEDIUM_LIMIT => None,
        true => Some(Class::of(size)),
        false => Class::aligned(align, size),
    };
    match class {
        // SAFETY: the caller's contract.
        Some(class) => unsafe { alloc::malloc_shared(h, class) },
        None => large::alloc_for(h, size, align).block,
    }
}

/// A block of a first-class heap of which every byte is zero.
///
/// # Safety
/// `h` is a shared heap.
pub unsafe fn heap_zeroed(h: *mut Heap, size: usize) -> *mut u8 {
    if size > MEDIUM_LIMIT {
        let new = large::alloc_for(h, size, 1);
        return cleared(new.block, size, new.clean);
    }
    // SAFETY: the caller's contract.
    cleared(unsafe { heap_aligned(h, MIN_ALIGN, size) }, size, false)
}

/// `free`.
///
/// # Safety
/// `p` is null or a block nobody uses any more.
#[inline(always)]
pub unsafe fn free(p: *mut u8) {
    // SAFETY: the caller's contract.
    unsafe { fast::free_or(p, release::free) }
}

/// `free`, for a block that came from `origin`.
///
/// # Safety
/// As for [`free`].
#[inline(always)]
pub unsafe fn free_from(p: *mut u8, _origin: Origin) {
    // SAFETY: the caller's contract.
    unsafe { free(p) }
}

pub use resize::{realloc as realloc_by, usable_size};

/// `realloc`.
///
/// # Safety
/// `p` is null or a live block; after success only the result is used.
#[inline]
pub unsafe fn realloc(p: *mut u8, size: usize) -> *mut u8 {
    // SAFETY: the caller's contract.
    unsafe { resize::realloc(p, MIN_ALIGN, size, malloc) }
}

/// `free` of a block with the size that it was allocated with, or resized to.
///
/// # Safety
/// As for [`free`], and `size` is that size.
#[inline(always)]
pub unsafe fn free_sized(p: *mut u8, size: usize) {
    // SAFETY: the caller's contract.
    unsafe { fast::free_sized_or(p, size, |p| free_sized_slow(p, size, false)) }
}

/// Frees a block with the size it was allocated with, when the thread's front cache for that size is not the one that
/// it came from. Reports a size that cannot be right: a larger one than the block's or, if `exact`
/// says that the block was never resized, one of another class.
fn free_sized_slow(p: *mut u8, size: usize, exact: bool) {
    let bin = MAP.bin_of(p).filter(|&bin| MAP.is_front_cache(bin));
    if let Some(bin) = bin {
        let class = heap_and_class(bin).1;
        let wrong = exact && size <= MEDIUM_LIMIT && Class::of(size) != class;
        if wrong || size > class.usable() {
            return misuse("free_sized", p, Misuse::WrongSize(size));
        }
    }
    // SAFETY: `free` takes any pointer.
    unsafe { free(p) };
}

/// [`free_sized`] of a block that came from `origin` and was never resized.
///
/// # Safety
/// As for [`free_sized`].
#[inline(always)]
pub unsafe fn free_sized_from(p: *mut u8, size: usize, _origin: Origin) {
    // SAFETY: the caller's contract.
    unsafe { fast::free_sized_or(p, size, |p| free_sized_slow(p, size, true)) }
}

/// The same for a block with an alignment, whose size in its slab may be another class's.
///
/// # Safety
/// As for [`free_sized`].
#[inline(always)]
pub unsafe fn free_aligned_sized_from(p: *mut u8, size: usize, _origin: Origin) {
    // SAFETY: the caller's contract.
    unsafe { free_sized(p, size) }
}

/// `free` of a block of a layout.
///
/// # Safety
/// As for [`free_sized`].
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

/// Notes what allocated a new block: not in this build.
#[inline(always)]
pub fn came_from(block: *mut u8, _origin: Origin) -> *mut u8 {
    block
}
