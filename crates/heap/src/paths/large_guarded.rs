//! Large blocks in the hardened build: above 128 KiB, or with an alignment that slabs do not have.
//!
//! ```text
//!   span
//!  ┌───────────────┬──────┬─────────────────────────────────┬─────┬──────────────┐
//!  │ guard pages   │ gap  │ block: bytes asked for          │slack│ guard pages  │
//!  └───────────────┴──────┴─────────────────────────────────┴─────┴──────────────┘
//!                   < page                                  < 16
//! ```
//! A block ends where a page ends, as far as its alignment allows, so that the first byte after it is in a guard
//! page; gap and slack hold canaries. The block lies at a random page of its span. A freed block's pages are given
//! back at once, and its addresses stay inaccessible until many others have been freed ([`retired`](super::retired)).

use crate::base::layout::{MAX_SIZE, MIN_ALIGN, UNIT, UNIT_SHIFT, Unit, units_for};
use crate::base::secret;
use crate::base::settings;
use crate::heap::heap::Heap;
use crate::map::blocks::{self, Entry, State};
use crate::map::far::{self, FAR};
use crate::map::misuse::{Misuse, misuse};
use crate::map::record::{Kind, Large, Span};
use crate::map::span_map::MAP;
use crate::map::stacks;
use crate::paths::closed::{self, Closed};
use crate::paths::{canary, retired};
use crate::profile::samples;
use crate::purge::{policy, turn};
use crate::sample;
use crate::source::{Free, SOURCE};
use allod_os::vm;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// Moving pages pays above this size; below, copying is faster.
const MOVE_PAGES_FROM: usize = 1024 * 1024;

/// A new large block.
#[derive(Clone, Copy, Debug)]
pub struct New {
    /// The block; null when memory is out.
    pub block: *mut u8,
}

const NONE: New = New { block: ptr::null_mut() };

/// Where the pages of a large block lie.
struct Place {
    from: usize,
    to: usize,
    block: usize,
}

/// Takes a large block of `size` bytes at a multiple of `align` (a power of two), all of them zero.
pub fn alloc(size: usize, align: usize) -> New {
    let new = alloc_for(ptr::null_mut(), size, align);
    if sample::is_on() {
        samples::note_large(new.block, size);
    }
    new
}

/// Takes a large block that belongs to the first-class heap `h`, or to none when null.
pub fn alloc_for(h: *mut Heap, size: usize, align: usize) -> New {
    let page = vm::page_size();
    let lead = align.max(page);
    if size > MAX_SIZE / 2 || align > MAX_SIZE / 4 {
        return NONE;
    }
    if size >= far::AT_ONCE && h.is_null() && align <= page {
        return alloc_far(h, size, align);
    }
    let units = units_for(lead + size.max(1).next_multiple_of(page) + page);
    // SAFETY: the span is ours alone, and reads as zero where it is open.
    let block = unsafe {
        if let Some((unit, place, closed)) = reuse(units, size, align) {
            enter(h, MAP.span(unit), size, &place, closed)
        } else if let Some(free) = take(units, units_for(align).max(1)) {
            let place = Place::within(free.unit, units, size, align);
            let start = MAP.address_of(free.unit);
            let closed = closed::around(start, units * UNIT, place.from, place.to);
            enter(h, MAP.span(free.unit), size, &place, closed)
        } else {
            return alloc_far(h, size, align);
        }
    };
    policy::note_allocated();
    New { block }
}

impl Place {
    /// At a random page of a span; at the start of one that has just room enough for its alignment.
    fn within(unit: Unit, units: usize, size: usize, align: usize) -> Place {
        let page = vm::page_size();
        let (lead, data) = (align.max(page), size.max(1).next_multiple_of(page));
        let spare = (units * UNIT - lead - data - page) / page;
        let skip = if align <= page { secret::random() as usize % (spare + 1) * page } else { 0 };
        let from = MAP.address_of(unit) + lead + skip;
        let end = (from + data - size) & !(align.max(MIN_ALIGN) - 1);
        Place { from, to: from + data, block: if align <= page { end } else { from } }
    }
}

/// A span that was closed as a whole, and in which the pages of a block have been opened: one system call. None where
/// none has rested, or the system refuses.
fn reuse(units: usize, size: usize, align: usize) -> Option<(Unit, Place, Closed)> {
    if align > vm::page_size() {
        return None;
    }
    let (unit, units, closed) = retired::reuse(units)?;
    let place = Place::within(unit, units, size, align);
    // SAFETY: the span is ours alone, without memory behind it.
    unsafe {
        if !closed.open(place.from, place.to - place.from) {
            retired::bring_back(unit, units);
            return None;
        }
    }
    Some((unit, place, closed))
}

fn take(units: usize, align: usize) -> Option<Free> {
    let take = || SOURCE.take(units, align, Kind::Large);
    take().or_else(|| {
        turn::reclaim();
        take()
    })
}

/// Takes a block beyond the window, for one that is large enough.
#[cold]
fn alloc_far(h: *mut Heap, size: usize, align: usize) -> New {
    if !h.is_null() || size < far::FROM || align > vm::page_size() {
        return NONE;
    }
    FAR.alloc(size).map_or(NONE, |block| New { block })
}

/// Makes a span a large block, with what lies around its pages `closed` so; null when its first-class heap cannot take it
/// in.
unsafe fn enter(
    h: *mut Heap,
    span: *mut Span,
    size: usize,
    place: &Place,
    closed: Closed,
) -> *mut u8 {
    // SAFETY: the span is the caller's.
    unsafe {
        let (unit, units) = (MAP.unit_of_span(span), (*span).units as usize);
        let block = place.block as *mut u8;
        (*span).start = place.block;
        // Nothing in the span is dirty: in this build the field says how it was closed.
        *Span::large(span) = Large { bytes: size, most: size, dirty_units: closed as u32 };
        (*span).owner.store(h.cast(), Relaxed);
        if place.block > place.from {
            canary::write_before(block);
        }
        let slack = place.to - place.block - size;
        canary::write(block, size + slack, size);
        MAP.enter(unit, units, &raw mut (*span).bin);
        blocks::set(block, Entry::live(slack));
        stacks::note_taken(block);
        MAP.publish();
        if !h.is_null() {
            let Some(mut locked) = Heap::enter(h) else {
                // A signal handler that interrupted the first-class heap itself gets no block of it.
                give(span);
                return ptr::null_mut();
            };
            locked.inside().slabs.link(unit);
        }
        block
    }
}

/// Where a large block's pages end.
unsafe fn end_of(span: *const Span) -> usize {
    // SAFETY: the record of a large block.
    unsafe {
        let bytes = (*Span::large(span.cast_mut())).bytes.max(1);
        ((*span).start + bytes).next_multiple_of(vm::page_size())
    }
}

/// True when nobody has written out of a large block's bounds.
///
/// # Safety
/// `span` is the record of a large block that nobody frees meanwhile.
pub unsafe fn is_intact(span: *mut Span) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        let (p, size) = ((*span).start as *const u8, (*Span::large(span)).bytes);
        let has_gap = !(p as usize).is_multiple_of(vm::page_size());
        (!has_gap || canary::is_intact_before(p))
            && canary::is_intact(p, end_of(span) - p as usize, size)
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
        if !is_intact(span) {
            return misuse("free", p, Misuse::Overflow);
        }
        free_moved(span, p);
    }
}

/// Frees a large block whose canaries have been checked, or whose pages have moved.
///
/// # Safety
/// As for [`free`], and `p` is the start of the block.
pub unsafe fn free_moved(span: *mut Span, p: *mut u8) {
    // SAFETY: the caller's contract.
    unsafe {
        if !(*span).claim(Kind::Large) {
            return misuse("free", p, Misuse::DoubleFree);
        }
        stacks::note_freed(p);
        samples::note_if_sample(p);
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

/// Gives up the span of a large block: its memory now, its addresses later.
///
/// # Safety
/// The span is the caller's, in no list, and nobody uses it any more.
pub unsafe fn give(span: *mut Span) {
    // SAFETY: the caller's contract.
    unsafe {
        blocks::set((*span).start as *const u8, Entry::live(0).turned(State::None));
        let closed = Closed::from_number((*Span::large(span)).dirty_units);
        closed.forget();
        retired::retire(MAP.unit_of_span(span), (*span).units as usize, closed);
    }
}

/// Moves a large block to a longer span by moving its pages; null when that does not pay, or cannot be done, and
/// nothing has changed then. The old block stays the caller's to free, its contents gone.
///
/// The new block does not end where a page ends: up to a page after it holds nothing but canaries.
///
/// # Safety
/// `span` is the record of a live large block of the caller's.
pub unsafe fn grow_by_pages(span: *mut Span, size: usize) -> *mut u8 {
    let page = vm::page_size();
    // SAFETY: the caller's contract; the new run is ours alone until it is entered in the map.
    unsafe {
        let (p, old) = ((*span).start, (*Span::large(span)).bytes);
        if old < MOVE_PAGES_FROM
            || size < old
            || size > MAX_SIZE / 2
            || !(*span).owner.load(Relaxed).is_null()
        {
            return ptr::null_mut();
        }
        let (offset, pages) = (p % page, end_of(span) - (p - p % page));
        let data = (offset + size).next_multiple_of(page);
        let Some(free) = take(units_for(data + 2 * page), 1) else { return ptr::null_mut() };
        let from = MAP.address_of(free.unit) + page;
        let place = Place { from, to: from + data, block: from + offset };
        // The moved pages replace open ones, before those around them are closed.
        if !vm::move_pages(p - offset, from, pages) {
            SOURCE.give(
                free.unit,
                units_for(data + 2 * page),
                Kind::Large,
                free.clean,
                settings::now(),
            );
            return ptr::null_mut();
        }
        // The old canaries, which the new block's bytes replace.
        clear_bytes((from + offset + old) as *mut u8, pages - offset - old);
        let span = MAP.span(free.unit);
        let (start, len) = (MAP.address_of(free.unit), (*span).units as usize * UNIT);
        let closed = closed::around(start, len, place.from, place.to);
        let block = enter(ptr::null_mut(), span, size, &place, closed);
        if sample::is_on() {
            samples::note_large(block, size);
        }
        block
    }
}

/// Clears a few bytes, at any address.
unsafe fn clear_bytes(p: *mut u8, len: usize) {
    for at in 0..len {
        // SAFETY: the caller's bytes.
        unsafe { p.add(at).write_volatile(0) };
    }
}
