//! Slabs: spans cut into blocks of one class, with a bitmap of the free ones in the span record.
//!
//! Refills take the lowest free blocks in address order, without touching them: what was never used
//! stays unmapped, and a page whose blocks are all free can be given back although the slab lives.
//! Flushes set bits, and in doing so find blocks that were freed twice and pointers into the middle
//! of a block.

use crate::class::{CLASSES, INFO};
use crate::heap::Heap;
use crate::layout::UNIT;
use crate::map::MAP;
use crate::owner::slab_of;
use crate::record::{BITMAP_WORDS, Kind, Span};
use crate::report::{Misuse, misuse};
use crate::settings;
use crate::source::SOURCE;
use core::sync::atomic::Ordering::Relaxed;

/// Writes up to `want` free blocks downwards from `below` so that the lowest address comes to lie
/// last (it is popped first). Returns where the writing ended.
///
/// # Safety
/// The heap of the slab is locked; `want` words below `below` may be written.
unsafe fn take_blocks(span: *mut Span, mut below: *mut *mut u8, want: usize) -> *mut *mut u8 {
    // SAFETY: the record is stable under the lock; indices stay below `blocks`.
    unsafe {
        let s = &mut *span;
        let size = s.size as usize;
        let mut left = want.min(s.free as usize);
        s.free -= left as u32;
        s.touched = true;
        let mut word = s.hint as usize;
        while left > 0 {
            let mut bits = s.bitmap[word];
            let base = s.start + word * 64 * size;
            while bits != 0 && left > 0 {
                let i = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                below = below.sub(1);
                *below = (base + i * size) as *mut u8;
                left -= 1;
            }
            s.bitmap[word] = bits;
            if bits == 0 {
                word += 1;
            }
        }
        s.hint = word.min(BITMAP_WORDS - 1) as u32;
        below
    }
}

/// Fills `want` words up to `top` (exclusive) with free blocks of the class, the lowest address of
/// each slab last. Returns how many were found; they lie right below `top`. Zero when memory is out.
///
/// # Safety
/// `h` is locked; `want` words below `top` may be written.
pub unsafe fn take(h: *mut Heap, class: usize, top: *mut *mut u8, want: usize) -> usize {
    let mut below = top;
    // SAFETY: the caller's contract; `below` stays within `want` words of `top`.
    unsafe {
        loop {
            let missing = want - top.offset_from(below) as usize;
            if missing == 0 {
                break;
            }
            let state = &mut (*h).classes[class];
            if state.current == 0 || (*MAP.span(state.current as usize)).free == 0 {
                let got_some = below != top;
                match next_slab(h, class, got_some) {
                    0 => break,
                    unit => (*h).classes[class].current = unit as u32,
                }
            }
            below = take_blocks(MAP.span((*h).classes[class].current as usize), below, missing);
        }
        top.offset_from(below) as usize
    }
}

/// The next slab to hand out: one with free blocks, or a new one unless `only_partial`.
unsafe fn next_slab(h: *mut Heap, class: usize, only_partial: bool) -> usize {
    // SAFETY: `h` is locked; listed slabs have valid records.
    unsafe {
        let unit = (*h).classes[class].partial as usize;
        if unit != 0 {
            unlist(h, class, unit);
            return unit;
        }
        if only_partial { 0 } else { new_slab(h, class) }
    }
}

/// Takes a slab for a class from the source; 0 when memory is out.
unsafe fn new_slab(h: *mut Heap, class: usize) -> usize {
    let info = &INFO[class];
    let units = info.units as usize;
    let Some(run) = SOURCE.take(units, 1, Kind::Slab) else { return 0 };
    let span = MAP.span(run.unit);
    // SAFETY: the run is ours; `h` is locked.
    unsafe {
        let state = &mut (*h).classes[class];
        let colour = (state.colour % info.colours) as usize * info.colour_step as usize;
        state.colour = (state.colour + 1) % info.colours;
        let s = &mut *span;
        s.class = class as u8;
        s.back = 0;
        s.owner.store(h.cast(), Relaxed);
        s.start = MAP.address_of(run.unit) + colour;
        s.reciprocal = info.reciprocal;
        s.size = info.size;
        s.blocks = u32::from(info.blocks);
        s.free = u32::from(info.blocks);
        s.hint = 0;
        s.listed = false;
        s.purged = run.clean;
        s.clean = run.clean;
        s.stamp = settings::now();
        let (full, rest) = (info.blocks as usize / 64, info.blocks as usize % 64);
        s.bitmap[..full].fill(!0);
        if rest != 0 {
            s.bitmap[full] = (1 << rest) - 1;
        }
        let bin = Heap::bin(h, class);
        if info.blocks == 1 {
            // Only the first unit can hold the start of a block; the rest lead to the record.
            MAP.enter(run.unit, 1, bin);
            MAP.enter(run.unit + 1, units - 1, &raw mut s.bin);
        } else {
            for back in 1..units {
                let other = MAP.span(run.unit + back);
                (*other).back = back as u8;
                (*other).set_kind(Kind::Slab);
            }
            MAP.enter(run.unit, units, bin);
        }
        Heap::link_all(h, run.unit);
        (*h).slow.slabs += 1;
    }
    run.unit
}

/// Returns blocks to their slabs. Blocks that are free already, and pointers that are no blocks, are
/// reported and left alone.
///
/// # Safety
/// `h` is locked; every pointer lies in a slab of `h`.
pub unsafe fn give(h: *mut Heap, blocks: &[*mut u8]) {
    for &p in blocks {
        // SAFETY: the caller's contract; the record is stable under the lock.
        unsafe {
            let span = slab_of(p);
            let s = &mut *span;
            let offset = (p as usize).wrapping_sub(s.start);
            let index = ((offset as u64).wrapping_mul(s.reciprocal) >> 40) as usize;
            if index >= s.blocks as usize || index * s.size as usize != offset {
                misuse("free", p, Misuse::NotABlock);
                continue;
            }
            let (word, bit) = (index / 64, 1u64 << (index % 64));
            if s.bitmap[word] & bit != 0 {
                misuse("free", p, Misuse::DoubleFree);
                continue;
            }
            s.bitmap[word] |= bit;
            s.free += 1;
            s.hint = s.hint.min(word as u32);
            s.purged = false;
            s.touched = true;
            if s.free == 1 || s.free == s.blocks {
                settle(h, span);
            }
        }
    }
}

/// Files a slab that has just become non-full or empty.
#[inline(never)]
unsafe fn settle(h: *mut Heap, span: *mut Span) {
    // SAFETY: `h` is locked, the slab is its own.
    unsafe {
        let unit = MAP.unit_of_span(span);
        let class = (*span).class as usize;
        let state = &mut (*h).classes[class];
        let current = state.current as usize == unit;
        if (*span).free == (*span).blocks && (!current || (*span).blocks == 1) {
            if current {
                state.current = 0;
            }
            if (*span).listed {
                unlist(h, class, unit);
            }
            release(h, unit);
        } else if !current && !(*span).listed {
            list(h, class, unit);
        }
    }
}

/// Returns an empty slab to the source.
///
/// # Safety
/// `h` is locked; the slab is its own, empty, neither current nor listed.
unsafe fn release(h: *mut Heap, unit: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        Heap::unlink_all(h, unit);
        let span = MAP.span(unit);
        SOURCE.give(unit, (*span).units as usize, Kind::Slab, false);
        (*h).slow.slabs_released += 1;
    }
}

unsafe fn list(h: *mut Heap, class: usize, unit: usize) {
    // SAFETY: `h` is locked, the slab is its own and not listed.
    unsafe {
        let span = MAP.span(unit);
        (*span).listed = true;
        let state = &mut (*h).classes[class];
        (*span).prev = 0;
        (*span).next = state.partial;
        if state.partial != 0 {
            (*MAP.span(state.partial as usize)).prev = unit as u32;
        }
        state.partial = unit as u32;
    }
}

unsafe fn unlist(h: *mut Heap, class: usize, unit: usize) {
    // SAFETY: `h` is locked, the slab is its own and listed.
    unsafe {
        let span = MAP.span(unit);
        (*span).listed = false;
        let (prev, next) = ((*span).prev, (*span).next);
        match prev {
            0 => (*h).classes[class].partial = next,
            p => (*MAP.span(p as usize)).next = next,
        }
        if next != 0 {
            (*MAP.span(next as usize)).prev = prev;
        }
    }
}

/// Returns the current slabs too where they are empty, for a heap that nobody uses now.
///
/// # Safety
/// `h` is locked.
pub unsafe fn release_empty(h: *mut Heap) {
    for class in 0..CLASSES {
        // SAFETY: the caller's contract; a current slab has a valid record.
        unsafe {
            let unit = (*h).classes[class].current as usize;
            if unit != 0 && (*MAP.span(unit)).free == (*MAP.span(unit)).blocks {
                (*h).classes[class].current = 0;
                release(h, unit);
            }
        }
    }
}

/// Gives the pages of a slab back that hold free blocks only. Returns the bytes given back.
///
/// # Safety
/// The slab's heap is locked.
pub unsafe fn purge_pages(span: *mut Span) -> usize {
    // SAFETY: the record is stable under the lock; only whole pages of free blocks are purged, and
    // blocks cannot leave the bitmap while the lock is held.
    unsafe {
        let s = &mut *span;
        let page = allod_os::vm::page_size();
        s.purged = true;
        let (mut given, mut from) = (0, usize::MAX);
        let mut purge = |from: usize, to: usize| {
            let (from, to) = (from.next_multiple_of(page), to & !(page - 1));
            if from < to && allod_os::vm::purge(from, to - from) {
                given += to - from;
            }
        };
        for index in 0..s.blocks as usize {
            let free = s.bitmap[index / 64] >> (index % 64) & 1 == 1;
            let at = s.start + index * s.size as usize;
            if free && from == usize::MAX {
                from = at;
            } else if !free && from != usize::MAX {
                purge(from, at);
                from = usize::MAX;
            }
        }
        if from != usize::MAX {
            purge(from, s.start + s.blocks as usize * s.size as usize);
        }
        if given > 0 {
            SOURCE.count_purge(given);
        }
        given
    }
}

/// A fresh unit for the heap's own data; `None` when memory is out.
pub fn internal_unit() -> Option<usize> {
    let run = SOURCE.take(1, 1, Kind::Internal)?;
    let span = MAP.span(run.unit);
    // SAFETY: the run is ours.
    unsafe {
        (*span).start = MAP.address_of(run.unit);
        (*span).bytes = UNIT;
        MAP.enter(run.unit, 1, &raw mut (*span).bin);
    }
    Some(MAP.address_of(run.unit))
}
