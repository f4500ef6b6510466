//! Large blocks: above 1 MiB, or with an alignment that slabs do not have, each in a span of its own.
//!
//! ```text
//!   span
//!  ┌────────┬───────────────────────────┬──────────────────────────────┐
//!  │ colour │ block: bytes asked for    │ room to grow, never touched  │
//!  └────────┴───────────────────────────┴──────────────────────────────┘
//! ```
//! A freed span stays in the span source for the decay as a dirty run, so that the next one finds its
//! pages in place. Growing takes the free units after the block when
//! there are any; otherwise the pages move to a longer span (`mremap`), with address space
//! in reserve, so that a block that grows step by step moves a logarithmic number of times and
//! copies nothing.

use crate::base::layout::{MAX_SIZE, MIN_ALIGN, UNIT, UNIT_SHIFT, Unit, units_for};
use crate::base::settings;
use crate::heap::heap::{Heap, Standing};
use crate::map::far::{self, FAR};
use crate::map::misuse::{Misuse, misuse};
use crate::map::record::{Kind, Large, Span};
use crate::map::span_map::MAP;
use crate::paths::seams;
use crate::profile::samples;
use crate::purge::{policy, turn};
use crate::sample;
use crate::slab;
use crate::source::SOURCE;
use allod_os::vm;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// Room at the start of a span within which the first byte is placed, so that large blocks do not
/// all compete for the same cache sets.
const COLOURS: usize = 4096;
/// A block that `realloc` makes larger than this gets a span with room to grow further.
pub const GROWING_FROM: usize = 128 * 1024;
/// That room, as a multiple of the block's size: address space only, which costs no memory. Where
/// address space is scarce it is an eighth of the size instead.
const RESERVE: usize = 64;
/// The most room, in bytes.
const MAX_RESERVE: usize = 256 << 20;
/// Moving pages pays above this size; below, copying is faster.
const MOVE_PAGES_FROM: usize = 1024 * 1024;
/// A new large block.
#[derive(Clone, Copy, Debug)]
pub struct New {
    /// The block; null when memory is out.
    pub block: *mut u8,
    /// True when every byte reads as zero.
    pub clean: bool,
}

const NONE: New = New { block: ptr::null_mut(), clean: false };

/// A span for a large block, not yet entered in the map.
struct Fresh {
    unit: Unit,
    units: usize,
    dirty: usize,
}

fn colour_of(unit: Unit, align: usize) -> usize {
    if align > 64 {
        return 0;
    }
    // Neighbouring spans get colours far apart (golden ratio).
    (unit.number().wrapping_mul(0x9E37_79B9) >> 4) as usize % (COLOURS / 64) * 64
}

/// Takes a large block of `size` bytes at a multiple of `align` (a power of two).
pub fn alloc(size: usize, align: usize) -> New {
    let new = alloc_for(ptr::null_mut(), size, align);
    if sample::is_on() {
        samples::note_large(new.block, size);
    }
    new
}

/// Takes a large block that belongs to the first-class heap `h`, or to none when null.
pub fn alloc_for(h: *mut Heap, size: usize, align: usize) -> New {
    if size > MAX_SIZE - UNIT || align > MAX_SIZE {
        return NONE;
    }
    let room = if align > 64 { 0 } else { COLOURS - 64 };
    let units = units_for(size + room).max(1);
    if size >= far::AT_ONCE && h.is_null() && align <= vm::page_size() {
        return alloc_far(h, size, align);
    }
    let Some(fresh) = take(units, units_for(align).max(1)) else {
        return alloc_far(h, size, align);
    };
    let offset = colour_of(fresh.unit, align);
    let clean = fresh.dirty == 0;
    // SAFETY: the run is ours alone.
    let block = unsafe { enter(h, fresh, size, offset) };
    policy::note_allocated();
    New { block, clean }
}

/// Takes a block beyond the window, for one that is large enough, or where a signal handler that interrupted the span
/// source has used up what it can have of it.
#[cold]
fn alloc_far(h: *mut Heap, size: usize, align: usize) -> New {
    let is_worth_it = size >= far::FROM || SOURCE.interrupted_here();
    if !h.is_null() || !is_worth_it || align > vm::page_size() {
        return NONE;
    }
    FAR.alloc(size).map_or(NONE, |block| New { block, clean: true })
}

/// Takes a span.
fn take(units: usize, align: usize) -> Option<Fresh> {
    let from_source = || {
        let free = SOURCE.take(units, align, Kind::Large)?;
        Some(Fresh { unit: free.unit, units, dirty: slab::dirty_units(&free, units) })
    };
    from_source().or_else(|| {
        turn::reclaim();
        from_source()
    })
}

/// Makes a span a large block; null when its first-class heap cannot list it.
unsafe fn enter(h: *mut Heap, fresh: Fresh, size: usize, offset: usize) -> *mut u8 {
    let Fresh { unit, units, dirty } = fresh;
    // SAFETY: the span is the caller's.
    unsafe {
        let span = MAP.span(unit);
        (*span).start = MAP.address_of(unit) + offset;
        *Span::large(span) = Large { bytes: size, most: size, dirty_units: dirty as u32 };
        (*Span::seams(span))[0] = 0;
        (*span).owner.store(h.cast(), Relaxed);
        MAP.enter(unit, units, &raw mut (*span).bin);
        MAP.publish();
        if !h.is_null() {
            let Some(mut locked) = Heap::enter(h) else {
                // A signal handler that interrupted the first-class heap itself gets no block of it.
                slab::give(unit, units, dirty, Kind::Large, settings::now());
                return ptr::null_mut();
            };
            locked.inside().slabs.link(unit);
        }
        SOURCE.count_room(room(span));
        (*span).start as *mut u8
    }
}

/// Frees a large block, or reports `p` when it is not the start of it.
///
/// # Safety
/// `span` is the record of the large block that `p` lies in, which nobody uses any more.
pub unsafe fn free(span: *mut Span, p: *mut u8) {
    // SAFETY: the caller's contract. Of two threads that free the block, one claims it.
    unsafe {
        if (*span).start != p as usize {
            return misuse("free", p, Misuse::NotABlock);
        }
        if !(*span).claim(Kind::Large) {
            return misuse("free", p, Misuse::DoubleFree);
        }
        let units = (*span).units as usize;
        let h = (*span).owner.load(Relaxed).cast::<Heap>();
        if !h.is_null() {
            // If a signal handler interrupted the first-class heap itself, the block is lost.
            let Some(mut locked) = Heap::enter(h) else { return };
            locked.inside().slabs.unlink(MAP.unit_of_span(span));
        }
        give(span);
        policy::note_freed(units << UNIT_SHIFT);
    }
}

/// Gives up the span of a large block.
///
/// # Safety
/// The span is the caller's, in no list, and nobody uses it any more.
pub unsafe fn give(span: *mut Span) {
    // SAFETY: the caller's contract.
    unsafe {
        let unit = MAP.unit_of_span(span);
        let units = (*span).units as usize;
        let now = settings::now();
        SOURCE.count_room(-room(span));
        let dirty = dirty_units(span);
        let fresh = seams::renew(span);
        if fresh > 0 {
            SOURCE.give(unit, fresh, Kind::Large, true, now);
        }
        if fresh < units {
            let dirty = dirty.saturating_sub(fresh);
            slab::give(unit + fresh, units - fresh, dirty, Kind::Large, now);
        }
    }
}

/// Units at the end of a large block's span into which it has never reached.
unsafe fn room(span: *const Span) -> isize {
    // SAFETY: the caller owns the block.
    unsafe {
        let most = (*Span::large(span.cast_mut())).most;
        (*span).units as isize - units_for((*span).start % UNIT + most) as isize
    }
}

/// Units of a large block's span that may not read as zero.
unsafe fn dirty_units(span: *const Span) -> usize {
    // SAFETY: the caller owns the block.
    unsafe {
        let large = *Span::large(span.cast_mut());
        let end = (*span).start % UNIT + large.most;
        // What lies beyond the last page asked for was never the user's.
        let used = units_for(end.next_multiple_of(vm::page_size()));
        used.max(large.dirty_units as usize).min((*span).units as usize)
    }
}

/// Resizes a large block within its span or into the free units after it. False when that is
/// not possible; nothing has changed then.
unsafe fn resize_in_place(span: *mut Span, size: usize) -> bool {
    // SAFETY: the caller owns the live block.
    unsafe {
        let unit = MAP.unit_of_span(span);
        let offset = (*span).start - MAP.address_of(unit);
        let old = (*span).units as usize;
        if size > MAX_SIZE - UNIT {
            return false;
        }
        let new = units_for(offset + size);
        let before = room(span);
        if new > old {
            let Some(clean) = SOURCE.extend(unit, old, new, Kind::Large) else { return false };
            if !clean {
                (*Span::large(span)).dirty_units = new as u32;
            }
            MAP.enter(unit + old, new - old, &raw mut (*span).bin);
            MAP.publish();
        } else if size < (*Span::large(span)).most / 2 && new < old {
            give_tail(span, new);
        }
        let large = &mut *Span::large(span);
        large.bytes = size;
        large.most = large.most.max(size);
        SOURCE.count_room(room(span) - before);
        true
    }
}

/// Gives up the units of a large block after the first `new`.
unsafe fn give_tail(span: *mut Span, new: usize) {
    // SAFETY: the caller owns the live block, whose contents lie in the first `new` units.
    unsafe {
        let (unit, old) = (MAP.unit_of_span(span), (*span).units as usize);
        let dirty = dirty_units(span);
        let tail = unit + new;
        // Free memory has no seams: those in the tail go with its pages.
        let page = (*span).start & !(vm::page_size() - 1);
        let renew = || seams::renew_units(tail, old - new);
        let renewed = seams::cut(span, MAP.address_of(tail) - page, renew);
        (*span).units = new as u32;
        let large = &mut *Span::large(span);
        large.most = large.most.min((new << UNIT_SHIFT) - (*span).start % UNIT);
        large.dirty_units = large.dirty_units.min(new as u32);
        let dirty = if renewed { 0 } else { dirty.saturating_sub(new) };
        slab::give(tail, old - new, dirty, Kind::Large, settings::now());
        policy::note_freed((old - new) << UNIT_SHIFT);
    }
}

/// The first-class heap that a span belongs to; null when it is a thread's, or the profile's, or nobody's.
unsafe fn first_class_owner(span: *mut Span) -> *mut Heap {
    // SAFETY: the record of a live span; heaps are never freed.
    unsafe {
        let h = (*span).owner.load(Relaxed).cast::<Heap>();
        let is_first_class =
            !h.is_null() && h != samples::heap() && (*h).standing() == Standing::Shared;
        if is_first_class { h } else { ptr::null_mut() }
    }
}

/// Takes note of a block that [`realloc`] has made of one in `span`; those of first-class heaps are nobody's samples.
///
/// # Safety
/// `span` is the record of a live span.
#[cold]
pub unsafe fn note_resized(span: *mut Span, block: *mut u8, size: usize) {
    // SAFETY: the caller's contract.
    if unsafe { first_class_owner(span) }.is_null() {
        samples::note_large(block, size);
    }
}

/// Moves a growing block to a longer span with address space in reserve: by moving its pages if
/// it is already large, else by copying. `old` is its size in bytes. The old span stays the
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
        let by_pages = (*span).kind() == Kind::Large && old >= MOVE_PAGES_FROM && seams::are_few();
        let offset = if by_pages { p as usize % vm::page_size() } else { 0 };
        let need = units_for(offset + size);
        let reserve = match SOURCE.is_roomy() {
            true => units_for((size * RESERVE).min(MAX_RESERVE)),
            false => units_for(size / 8),
        };
        // A copy goes to resident pages, without any in reserve, because those could not be
        // given back. Otherwise clean: what was never touched need not be copied.
        let resident = match old < MOVE_PAGES_FROM {
            true => SOURCE.take_dirty(need, Kind::Large).map(|free| (free, need)),
            false => None,
        };
        let found = resident.or_else(|| {
            let free = SOURCE.take_clean(need + reserve, Kind::Large)?;
            Some((free, need + reserve))
        });
        let found = found.or_else(|| SOURCE.take(need, 1, Kind::Large).map(|free| (free, need)));
        let Some((free, units)) = found else { return ptr::null_mut() };
        let mut seams = seams::of(span);
        let dirty = slab::dirty_units(&free, units);
        let fresh = Fresh { unit: free.unit, units, dirty };
        let to = enter(first_class_owner(span), fresh, size, offset);
        if to.is_null() {
            return to;
        }
        if by_pages {
            seams::move_contents(p as usize, to as usize, old, &mut seams);
            *Span::seams(MAP.span(free.unit)) = seams;
        } else {
            copy(p, to, old, dirty == 0);
        }
        to
    }
}

/// Copies `len` bytes. If the destination reads as zero, pages of zeros are not copied: a block that
/// was never touched stays untouched.
unsafe fn copy(from: *const u8, to: *mut u8, len: usize, zero: bool) {
    let page = vm::page_size();
    // SAFETY: the caller's blocks hold `len` bytes each and do not overlap; blocks lie at multiples
    // of 16, so whole words can be read.
    unsafe {
        if !zero || len < MOVE_PAGES_FROM {
            return ptr::copy_nonoverlapping(from, to, len);
        }
        let mut at = 0;
        while at < len {
            let piece = page.min(len - at);
            let words = core::slice::from_raw_parts(from.add(at).cast::<u64>(), piece / 8);
            if words.len() * 8 < piece || words.iter().any(|&word| word != 0) {
                ptr::copy_nonoverlapping(from.add(at), to.add(at), piece);
            }
            at += piece;
        }
    }
}

/// `realloc` of a large block, or growth to more than [`GROWING_FROM`]: in place, or into a span with
/// room to grow. Null when the ordinary way (allocate, copy, free) has to be taken. After a move the
/// caller frees the old block.
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
        move_to_longer(span, p, usable, size)
    }
}

const _: () = assert!(MIN_ALIGN <= 64);
