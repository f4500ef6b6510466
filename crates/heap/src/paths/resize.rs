//! `realloc`, and how large a block is.

use crate::base::class::Class;
use crate::base::layout::{MAX_SIZE, MIN_ALIGN};
use crate::guard::blocks as guard;
use crate::map::far::FAR;
use crate::map::misuse::{Misuse, misuse};
use crate::map::owner::usable_in_large;
use crate::map::record::{Kind, Span};
use crate::map::span_map::MAP;
use crate::paths::{fast, large, release};
use crate::profile::samples;
use crate::sample;
use core::ptr;

/// The span of a live block; `None` for null and for what is not the start of a block.
unsafe fn block_at(p: *mut u8) -> Option<*mut Span> {
    let bin = MAP.bin_of_block(p)?;
    // SAFETY: map entries point to bins, records of entered spans are valid.
    unsafe {
        if let Some(span) = MAP.span_of_bin(bin) {
            let is_block = match (*span).kind() {
                Kind::Large => true,
                Kind::Guarded => (*span).is_live(),
                _ => false,
            };
            return (is_block && (*span).start == p as usize).then_some(span);
        }
        let span = MAP.is_front_cache(bin).then(|| Span::of_block(p))?;
        let slab = &*Span::slab(span);
        let offset = (p as usize).wrapping_sub((*span).start);
        slab.index_of(offset).map(|_| span)
    }
}

unsafe fn usable_in(span: *mut Span) -> usize {
    // SAFETY: the record of a live span.
    unsafe {
        match (*span).kind() {
            Kind::Large => usable_in_large(span),
            Kind::Guarded => (*Span::large(span)).bytes,
            _ => Class::new((*Span::slab(span)).class as usize).usable(),
        }
    }
}

fn usable_in_far(p: *mut u8) -> usize {
    FAR.block_of(p).filter(|&(start, _)| start == p as usize).map_or(0, |(_, len)| len)
}

/// Moves a block that the span map does not know, or reports it.
#[cold]
unsafe fn realloc_far(p: *mut u8, size: usize, alloc: impl FnOnce(usize) -> *mut u8) -> *mut u8 {
    let usable = usable_in_far(p);
    if usable == 0 {
        if guard::report_if_guarded("realloc", p) {
            return ptr::null_mut();
        }
        misuse("realloc", p, Misuse::NotABlock);
        return ptr::null_mut();
    }
    if size <= usable && size > usable / 2 {
        return p;
    }
    let q = alloc(size);
    if !q.is_null() {
        // SAFETY: the old block holds `usable` bytes, the new one `size`.
        unsafe {
            ptr::copy_nonoverlapping(p, q, usable.min(size));
            free(p);
        }
    }
    q
}

/// Bytes usable at `p`, at least what was asked for; 0 for null and for what is not a block.
///
/// # Safety
/// `p` is null or a live block.
pub unsafe fn usable_size(p: *mut u8) -> usize {
    // SAFETY: the caller's contract; the record of the live block's span.
    unsafe { block_at(p).map_or_else(|| usable_in_far(p), |span| usable_in(span)) }
}

/// Frees a block whose contents have moved.
#[inline]
unsafe fn free(p: *mut u8) {
    // SAFETY: the caller's block.
    unsafe { fast::free_or(p, release::free) }
}

/// Resizes a block at a multiple of `align`, taking new blocks from `alloc`. Null when memory is out;
/// the old block is untouched then.
///
/// # Safety
/// `p` is null or a live block; after success only the result is used. `alloc` gives a block of the
/// size that it is asked for, at a multiple of `align`.
#[inline]
pub unsafe fn realloc(
    p: *mut u8,
    align: usize,
    size: usize,
    alloc: impl FnOnce(usize) -> *mut u8,
) -> *mut u8 {
    if p.is_null() {
        return alloc(size);
    }
    // SAFETY: the caller's contract: a live block, and its span's record.
    unsafe {
        let Some(span) = block_at(p) else { return realloc_far(p, size, alloc) };
        let usable = usable_in(span);
        let large = (*span).kind() == Kind::Large;
        let slab = (*span).kind() == Kind::Slab;
        if slab && size <= usable && size > usable / 2 && (p as usize).is_multiple_of(align) {
            return p;
        }
        if size > MAX_SIZE {
            return ptr::null_mut();
        }
        if (large || slab && size > large::GROWING_FROM) && align <= MIN_ALIGN {
            let q = large::realloc(span, p, size, usable);
            if !q.is_null() {
                if large {
                    samples::note_if_sample(p);
                }
                if sample::is_on() {
                    large::note_resized(span, q, size);
                }
                if q != p {
                    free(p);
                }
                return q;
            }
        }
        let q = alloc(size);
        if q.is_null() {
            // A block that shrinks need not move.
            return if size <= usable { p } else { q };
        }
        ptr::copy_nonoverlapping(p, q, usable.min(size));
        free(p);
        q
    }
}
