//! Chunks: where a region's objects go when the inline buffer is full.
//!
//! A region's chunks form a list, oldest to newest. The newest is the one the cursor is in, unless the
//! cursor is still in the inline buffer. A block too large for the next chunk gets a chunk of its own
//! (`own`), entered *before* the newest, so that the cursor's chunk stays last.

use crate::base::check::{CHECKED, wrong};
use crate::memory::control::{Chunk, ChunkSize, Control, HEAD, LARGEST};
use crate::memory::{pool, source};
use allod_heap::layout::UNIT;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// Blocks up to this go where the cursor goes; larger ones may get chunks of their own.
pub(crate) const SMALL: usize = 8 * 1024;

/// Which of the thread's caches keeps chunks of the size.
fn cache(size: ChunkSize) -> Option<usize> {
    match size {
        ChunkSize::K4 => Some(0),
        ChunkSize::K16 => Some(1),
        ChunkSize::Span(UNIT) => Some(2),
        ChunkSize::Span(_) => None,
    }
}

/// A chunk from the thread's cache, or a new one; null when memory is out.
fn obtain(size: ChunkSize, r: *mut Control) -> *mut Chunk {
    let mut c = cache(size).map_or(ptr::null_mut(), pool::cached_chunk);
    if c.is_null() {
        c = source::take(size);
        if c.is_null() {
            return c;
        }
    }
    // SAFETY: the chunk is the caller's.
    unsafe {
        (*c).size = size;
        (*c).own = false;
        (*c).top = Chunk::first(c);
        (*(*c).owner).store(r, Relaxed);
    }
    c
}

/// Keeps a chunk's memory for the thread's next regions, or gives it back.
///
/// # Safety
/// Nothing in the chunk is used any more.
pub(crate) unsafe fn dispose(c: *mut Chunk) {
    // SAFETY: the caller's contract.
    unsafe {
        (*(*c).owner).store(ptr::null_mut(), Relaxed);
        if !cache((*c).size).is_some_and(|i| pool::cache_chunk(c, i)) {
            source::give_back(c);
        }
    }
}

/// [`bump`](crate::memory::bump::bump) when the block does not fit.
///
/// # Safety
/// As for `bump`.
#[cold]
#[inline(never)]
pub unsafe fn bump_slow(r: *mut Control, size: usize) -> *mut u8 {
    // SAFETY: the caller's contract.
    unsafe { bump_aligned_slow(r, size, 8) }
}

/// [`bump_aligned`](crate::memory::bump::bump_aligned) when the block does not fit.
///
/// # Safety
/// As for `bump_aligned`; `size` is a multiple of 8 and `align` at least 8.
#[cold]
#[inline(never)]
pub unsafe fn bump_aligned_slow(r: *mut Control, size: usize, align: usize) -> *mut u8 {
    if align > UNIT || size > isize::MAX as usize - align - HEAD {
        return ptr::null_mut();
    }
    // SAFETY: the caller's contract.
    unsafe {
        // A region that has been left can still grow while a reference or a tether holds it: stores into its
        // objects may need copies there.
        if CHECKED && !(*r).counts.is_held() {
            wrong(format_args!("allocation in region {r:p}, which is not open any more"));
        }
        if (*r).frozen {
            wrong(format_args!("allocation in a frozen region"));
            return ptr::null_mut();
        }
        let need = size + HEAD + (align - 8).min(UNIT);
        let mut next = next_size(r);
        if size > SMALL && need > next.bytes() / 4 {
            return own_chunk(r, size, align, need);
        }
        while next.bytes() < need {
            next = next.grown();
        }
        if !new_chunk(r, next) {
            return ptr::null_mut();
        }
        let p = (*r).cursor;
        let pad = (p as usize).wrapping_neg() & (align - 1);
        (*r).cursor = p.add(pad + size);
        p.add(pad)
    }
}

/// The size of the next chunk: one step larger than the newest.
unsafe fn next_size(r: *mut Control) -> ChunkSize {
    // SAFETY: the caller's region is live.
    unsafe {
        if (*r).first == Control::inline_start(r) {
            return ChunkSize::K4;
        }
        (*(*r).newest).size.grown()
    }
}

/// A new newest chunk with the cursor in it. False when memory is out.
unsafe fn new_chunk(r: *mut Control, size: ChunkSize) -> bool {
    let c = obtain(size, r);
    if c.is_null() {
        return false;
    }
    // SAFETY: the region and the chunk are the caller's.
    unsafe {
        retire(r);
        enter_newest(r, c);
        (*r).first = Chunk::first(c);
        (*r).cursor = Chunk::first(c);
        (*r).limit = (*c).limit;
    }
    true
}

/// Counts what is in use where the cursor is and notes where it ends.
///
/// # Safety
/// The region is the caller's; the cursor is moved elsewhere next.
pub(crate) unsafe fn retire(r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe {
        let used = (*r).cursor as usize - (*r).first as usize;
        (*r).retired += used;
        if (*r).first == Control::inline_start(r) {
            (*r).inline_used = used as u16;
        } else {
            (*(*r).newest).top = (*r).cursor;
        }
    }
}

unsafe fn enter_newest(r: *mut Control, c: *mut Chunk) {
    // SAFETY: the caller's region and chunk; the list's links are valid.
    unsafe {
        (*c).older = (*r).newest;
        (*c).newer = ptr::null_mut();
        if (*r).newest.is_null() {
            (*r).oldest = c;
        } else {
            (*(*r).newest).newer = c;
        }
        (*r).newest = c;
        (*r).counts.set_extra();
    }
}

/// A chunk for one block; the cursor stays where it is.
unsafe fn own_chunk(r: *mut Control, size: usize, align: usize, need: usize) -> *mut u8 {
    let c = obtain(ChunkSize::Span(need), r);
    if c.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: the region and the chunk are the caller's; `need` has room for head, padding and block.
    unsafe {
        let first = Chunk::first(c);
        let pad = (first as usize).wrapping_neg() & (align - 1);
        (*c).own = true;
        (*c).top = first.add(pad + size);
        (*r).retired += pad + size;
        enter_oldest(r, c);
        first.add(pad)
    }
}

/// Own chunks go to the old end of the list, so that the cursor's chunk stays the newest.
unsafe fn enter_oldest(r: *mut Control, c: *mut Chunk) {
    // SAFETY: the caller's region and chunk; the list's links are valid.
    unsafe {
        (*c).older = ptr::null_mut();
        (*c).newer = (*r).oldest;
        if (*r).oldest.is_null() {
            (*r).newest = c;
        } else {
            (*(*r).oldest).older = c;
        }
        (*r).oldest = c;
        (*r).counts.set_extra();
    }
}

/// Makes `size` bytes fit where the cursor is, so that they follow one another. False when memory is
/// out or `size` is not below `PTRDIFF_MAX`.
///
/// # Safety
/// As for `bump`.
pub unsafe fn reserve(r: *mut Control, size: usize) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        if size <= (*r).limit as usize - (*r).cursor as usize {
            return true;
        }
        if size > isize::MAX as usize - HEAD - UNIT || (*r).frozen {
            return false;
        }
        let mut next = next_size(r);
        while next.bytes() < size + HEAD && next.bytes() < LARGEST {
            next = next.grown();
        }
        if next.bytes() < size + HEAD {
            next = ChunkSize::Span(size + HEAD);
        }
        new_chunk(r, next)
    }
}
