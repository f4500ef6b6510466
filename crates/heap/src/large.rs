//! Large blocks: above 1 MiB, or with an alignment that slabs do not have, each in a span of its own.
//!
//! A freed large block stays for the decay as a dirty run, so that the next one finds its pages in
//! place. Growing takes the free units behind the block when there are any; otherwise the pages
//! move to a longer run (`mremap`), with as much address space again in reserve, so that a block
//! that grows step by step moves a logarithmic number of times and copies nothing.

use crate::heap::{Heap, Standing};
use crate::layout::{MAX_SIZE, MIN_ALIGN, UNIT, UNIT_SHIFT, units_for};
use crate::map::MAP;
use crate::purge;
use crate::record::{Kind, Span};
use crate::report::{Misuse, misuse};
use crate::source::SOURCE;
use allod_os::vm;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// Room at the start of a span over which large blocks are spread, so that their first bytes do not
/// all compete for the same cache sets.
const COLOURS: usize = 4096;
/// A block that `realloc` makes larger than this gets a span with room to grow further.
pub const GROWING_FROM: usize = 128 * 1024;
/// That room, as a multiple of the block's size: address space only, which costs no memory. Where
/// address space is scarce it is an eighth of the size instead.
const RESERVE: usize = 64;
/// And at most this many bytes.
const MAX_RESERVE: usize = 256 << 20;
/// Moving pages pays above this size; below, copying is faster.
const MOVE_PAGES_FROM: usize = 1024 * 1024;

/// A new large block.
#[derive(Clone, Copy, Debug)]
pub struct Large {
    /// The block; null when memory is out.
    pub block: *mut u8,
    /// True when every byte reads as zero.
    pub clean: bool,
}

const NONE: Large = Large { block: ptr::null_mut(), clean: false };

fn colour_of(unit: usize, align: usize) -> usize {
    if align > 64 {
        return 0;
    }
    // Neighbouring spans get colours far apart (golden ratio).
    (unit.wrapping_mul(0x9E37_79B9) >> 4) % (COLOURS / 64) * 64
}

/// Takes a large block of `size` bytes at a multiple of `align` (a power of two).
pub fn alloc(size: usize, align: usize) -> Large {
    alloc_for(ptr::null_mut(), size, align)
}

/// Takes a large block that belongs to the first-class heap `h`, or to none when null.
pub fn alloc_for(h: *mut Heap, size: usize, align: usize) -> Large {
    if size > MAX_SIZE - UNIT || align > MAX_SIZE {
        return NONE;
    }
    let room = if align > 64 { 0 } else { COLOURS - 64 };
    let units = units_for(size + room).max(1);
    let Some(run) = SOURCE.take(units, units_for(align).max(1), Kind::Large) else { return NONE };
    // SAFETY: the run is ours alone.
    unsafe { enter(h, run.unit, units, size, colour_of(run.unit, align)) };
    Large { block: start_of(run.unit), clean: run.clean }
}

fn start_of(unit: usize) -> *mut u8 {
    // SAFETY: the record of a large block's first unit, written by its owner.
    unsafe { (*MAP.span(unit)).start as *mut u8 }
}

/// Makes a run a large block.
unsafe fn enter(h: *mut Heap, unit: usize, units: usize, size: usize, offset: usize) {
    // SAFETY: the run is the caller's.
    unsafe {
        let span = MAP.span(unit);
        (*span).start = MAP.address_of(unit) + offset;
        (*span).bytes = size;
        (*span).owner.store(h.cast(), Relaxed);
        (*span).bitmap[0] = 0;
        MAP.enter(unit, units, &raw mut (*span).bin);
        if !h.is_null() {
            (*h).lock.lock();
            Heap::link_all(h, unit);
            (*h).lock.unlock();
        }
    }
}

/// Bytes usable in a large block: to the end of its last page.
///
/// # Safety
/// The record of a large block.
pub unsafe fn usable(span: *const Span) -> usize {
    // SAFETY: the caller's contract.
    unsafe {
        let end = ((*span).start + (*span).bytes).next_multiple_of(vm::page_size());
        end - (*span).start
    }
}

/// Frees a large block, or reports `p` when it is not the start of it.
///
/// # Safety
/// `span` is the record of the large block that `p` lies in, which nobody uses any more.
pub unsafe fn free(span: *mut Span, p: *mut u8) {
    // SAFETY: the caller's contract.
    unsafe {
        if (*span).start != p as usize {
            return misuse("free", p, Misuse::NotABlock);
        }
        let unit = MAP.unit_of_span(span);
        let units = (*span).units as usize;
        let h = (*span).owner.load(Relaxed).cast::<Heap>();
        if !h.is_null() {
            (*h).lock.lock();
            Heap::unlink_all(h, unit);
            (*h).lock.unlock();
        }
        give(span, unit, units);
        purge::note_flush(units << UNIT_SHIFT);
    }
}

/// Resizes a large block within its span or into the free units behind it. False when that is
/// not possible; nothing has changed then.
///
/// # Safety
/// `span` is the record of a live large block of the caller's.
pub unsafe fn resize_in_place(span: *mut Span, size: usize) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        let unit = MAP.unit_of_span(span);
        let offset = (*span).start - MAP.address_of(unit);
        let old = (*span).units as usize;
        if size > MAX_SIZE - UNIT {
            return false;
        }
        let new = units_for(offset + size);
        if new > old {
            if !SOURCE.extend(unit, old, new, Kind::Large) {
                return false;
            }
            MAP.enter(unit + old, new - old, &raw mut (*span).bin);
        } else if size < (*span).bytes / 2 && new < old {
            (*span).units = new as u32;
            give(span, unit + new, old - new);
        }
        (*span).bytes = size;
        true
    }
}

/// The first-class heap that a span belongs to; null when it is a thread's or nobody's.
unsafe fn first_class_owner(span: *mut Span) -> *mut Heap {
    // SAFETY: the record of a live span; heaps are never freed.
    unsafe {
        let h = (*span).owner.load(Relaxed).cast::<Heap>();
        if h.is_null() || (*h).standing() != Standing::Shared { ptr::null_mut() } else { h }
    }
}

/// Moves a block that grows to a longer run with address space in reserve: by moving its pages when
/// it is large already, else by copying. `old` is its size in bytes. The old span stays the
/// caller's, its contents gone. Null when memory is out; nothing has changed then.
///
/// # Safety
/// `p` is a live block of the caller's and `span` the record of its span.
unsafe fn move_to_longer(span: *mut Span, p: *mut u8, old: usize, size: usize) -> *mut u8 {
    // SAFETY: the caller's contract; the new run is ours alone.
    unsafe {
        if size > MAX_SIZE / 8 {
            return ptr::null_mut();
        }
        let by_pages = (*span).kind() == Kind::Large && old >= MOVE_PAGES_FROM;
        let offset = if by_pages { p as usize % vm::page_size() } else { 0 };
        let need = units_for(offset + size);
        let reserve = match SOURCE.is_roomy() {
            true => units_for((size * RESERVE).min(MAX_RESERVE)),
            false => units_for(size / 8),
        };
        let run = match by_pages {
            true => SOURCE.take_clean(need + reserve, Kind::Large),
            false => SOURCE.take(need + reserve, 1, Kind::Large),
        };
        let run = run.map(|run| (run, need + reserve));
        let run = run.or_else(|| SOURCE.take(need, 1, Kind::Large).map(|run| (run, need)));
        let Some((run, units)) = run else { return ptr::null_mut() };
        let mut seams = seams_of(span);
        enter(first_class_owner(span), run.unit, units, size, offset);
        let to = start_of(run.unit);
        if by_pages {
            move_contents(p as usize, to as usize, old, &mut seams);
            let bitmap = &mut (*MAP.span(run.unit)).bitmap;
            bitmap[..seams.len()].copy_from_slice(&seams);
        } else {
            ptr::copy_nonoverlapping(p, to, old);
        }
        to
    }
}

/// Moved pages form a mapping of their own in the kernel, which moves one mapping at a time. The
/// first words of a large block's bitmap, which it has no use for, keep where the seams between its
/// mappings lie: their number, then offsets from the start of the span.
const MAX_SEAMS: usize = 31;
type Seams = [u64; MAX_SEAMS + 1];

unsafe fn seams_of(span: *const Span) -> Seams {
    let mut seams = [0; MAX_SEAMS + 1];
    // SAFETY: the record of a live block; only large blocks have seams.
    unsafe {
        if (*span).kind() == Kind::Large {
            seams.copy_from_slice(&(&(*span).bitmap)[..MAX_SEAMS + 1]);
        }
    }
    seams
}

/// Moves the pages of `from..from+old` to `to`, mapping by mapping, and adds the seam at the end.
/// Copies what cannot be moved.
unsafe fn move_contents(from: usize, to: usize, old: usize, seams: &mut Seams) {
    let page = vm::page_size();
    let offset = from % page;
    let (source, target) = (from - offset, to - offset);
    let len = (offset + old).next_multiple_of(page);
    let count = seams[0] as usize;
    if count == MAX_SEAMS {
        // SAFETY: both blocks hold `old` bytes.
        return unsafe { ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, old) };
    }
    let mut at = 0;
    let ends = seams[1..=count].iter().map(|&seam| seam as usize).filter(|&seam| seam < len);
    for end in ends.chain([len]) {
        // SAFETY: both ranges are whole pages of the two spans, committed and the caller's.
        unsafe {
            if end > at && !vm::move_pages(source + at, target + at, end - at) {
                ptr::copy_nonoverlapping(
                    (source + at) as *const u8,
                    (target + at) as *mut u8,
                    end - at,
                );
            }
        }
        at = end;
    }
    seams[count + 1] = len as u64;
    seams[0] = count as u64 + 1;
}

/// Returns units at the end of a large block's span (or all of it) to the source. Where pages were
/// moved in, they are renewed first, so that free memory has no seams that nobody knows of.
///
/// # Safety
/// The units are the span's, and the caller gives them up.
pub unsafe fn give(span: *mut Span, unit: usize, units: usize) {
    // SAFETY: the caller gives the units up.
    unsafe {
        let moved = (*span).bitmap[0] != 0;
        let clean = moved && vm::renew(MAP.address_of(unit), units << UNIT_SHIFT);
        SOURCE.give(unit, units, Kind::Large, clean);
    }
}

/// `realloc` of a large block, or growth to more than [`GROWING_FROM`]: in place, or into a span with
/// room to grow. Null when the ordinary way (allocate, copy, free) has to be taken.
///
/// # Safety
/// `p` is a live block of the caller's with `usable` bytes, `span` the record of its span.
pub unsafe fn realloc(span: *mut Span, p: *mut u8, size: usize, usable: usize) -> *mut u8 {
    // SAFETY: the caller's contract.
    unsafe {
        let large = (*span).kind() == Kind::Large;
        if large && size > GROWING_FROM && resize_in_place(span, size) {
            return p;
        }
        if size <= usable || size <= GROWING_FROM {
            return ptr::null_mut();
        }
        let to = move_to_longer(span, p, usable, size);
        if !to.is_null() {
            crate::free(p);
        }
        to
    }
}

const _: () = assert!(MIN_ALIGN <= 64);
