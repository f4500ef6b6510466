//! Spans for the other layers: regions and frames take theirs from the same source as the heap and
//! are entered in the same map.

pub use crate::map::record::Kind;

use crate::base::layout::{MAX_SIZE, UNIT_SHIFT, Unit, units_for};
use crate::base::settings;
use crate::map::record::Span;
use crate::map::span_map::MAP;
use crate::purge::{policy, turn};
use crate::source::{self, SOURCE};
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// What the span map knows about an address in a region's or frame's span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanInfo {
    /// Whose span it is.
    pub kind: Kind,
    /// The owner's word given to [`alloc`].
    pub owner: *mut (),
    /// First byte of the span.
    pub start: *mut u8,
    /// Length in bytes.
    pub len: usize,
}

/// A span handed out by [`alloc`].
#[derive(Clone, Copy, Debug)]
pub struct NewSpan {
    /// First byte; a multiple of 64 KiB.
    pub start: *mut u8,
    /// Length in bytes, at least what was asked for.
    pub len: usize,
    /// True when every byte reads as zero.
    pub zeroed: bool,
}

/// Takes a span of at least `bytes` bytes for a region or a frame, aligned to `align` (a power of
/// two; at least 64 KiB is given) and enters `owner` in the span map for all of it.
///
/// The span is the caller's until [`free`]. `None` when memory is out or `bytes` exceeds
/// `PTRDIFF_MAX`. Thread-safe. About 50 ns plus, for fresh memory, the page faults of its use.
///
/// ```
/// use allod_heap::span::{self, Kind};
/// let owner = 8 as *mut ();
/// let s = span::alloc(100_000, 1, Kind::Frame, owner).unwrap();
/// let inside = s.start.wrapping_add(70_000);
/// assert_eq!(span::lookup(inside).unwrap().owner, owner);
/// // SAFETY: nothing uses the span any more.
/// unsafe { span::free(s.start) };
/// assert!(span::lookup(inside).is_none());
/// ```
pub fn alloc(bytes: usize, align: usize, kind: Kind, owner: *mut ()) -> Option<NewSpan> {
    debug_assert!(matches!(kind, Kind::Region | Kind::Frame));
    if bytes > MAX_SIZE {
        return None;
    }
    let units = units_for(bytes).max(1);
    let take = || SOURCE.take(units, units_for(align).max(1), kind);
    let run = take().or_else(|| {
        turn::reclaim();
        take()
    })?;
    let span = MAP.span(run.unit);
    // SAFETY: the run is ours alone until it is entered in the map.
    unsafe {
        (*span).owner.store(owner, Relaxed);
        MAP.enter(run.unit, units, &raw mut (*span).bin);
        MAP.publish();
    }
    policy::note_allocated();
    Some(NewSpan {
        start: MAP.address_of(run.unit) as *mut u8,
        len: units << UNIT_SHIFT,
        zeroed: run.clean,
    })
}

/// Gives back a span taken with [`alloc`].
///
/// # Safety
/// `start` is the first byte of a span from [`alloc`], given back once, and nothing in it is used
/// any more.
pub unsafe fn free(start: *mut u8) {
    let unit = MAP.unit_of(start as usize);
    // SAFETY: the caller owns the span, so its record is stable.
    unsafe {
        let span = MAP.span(unit);
        let units = (*span).units as usize;
        let clean = source::wipe(start as usize, units << UNIT_SHIFT);
        SOURCE.give(unit, units, (*span).kind(), clean, settings::now());
    }
}

/// Changes the owner's word of a span; constant cost however long the span is.
///
/// # Safety
/// As for [`free`], but the span stays in use.
pub unsafe fn set_owner(start: *mut u8, owner: *mut ()) {
    // SAFETY: the caller owns the span, so its record is stable.
    unsafe { (*MAP.span(MAP.unit_of(start as usize))).owner.store(owner, Relaxed) };
}

/// The owner's word for any address inside a region's or frame's span of the given kind; null for
/// every other address. Three dependent loads; never touches the span itself.
#[inline]
pub fn owner(p: *const u8, kind: Kind) -> *mut () {
    let Some(span) = MAP.bin_of(p).and_then(|bin| MAP.span_of_bin(bin)) else {
        return ptr::null_mut();
    };
    // SAFETY: records of entered spans are committed.
    unsafe {
        if (*span).kind() != kind {
            return ptr::null_mut();
        }
        (*span).owner.load(Relaxed)
    }
}

/// Calls `f` with the first byte and the owner's word of each span of a kind. Whatever other threads take or give up
/// meanwhile may be among them or not, and may be given up by the time of the call.
///
/// ```
/// use allod_heap::span::{self, Kind};
/// let owner = 8 as *mut ();
/// let s = span::alloc(200_000, 1, Kind::Frame, owner).unwrap();
/// let mut found = 0;
/// span::each(Kind::Frame, &mut |start, word| found += usize::from((start, word) == (s.start, owner)));
/// assert_eq!(found, 1);
/// # // SAFETY: nothing uses the span any more.
/// # unsafe { span::free(s.start) };
/// ```
pub fn each(kind: Kind, f: &mut dyn FnMut(*mut u8, *mut ())) {
    for unit in (0..MAP.limit()).map(Unit::new) {
        let span = MAP.span(unit);
        // SAFETY: words below the limit are valid, and records of entered spans are committed and never unmapped. What is
        // read of one are atomics.
        unsafe {
            let is_first = MAP.entry(MAP.base(), unit.index()).cast::<Span>() == span;
            if is_first && (*span).kind() == kind {
                f(MAP.address_of(unit) as *mut u8, (*span).owner.load(Relaxed));
            }
        }
    }
}

/// What the span map knows about an address inside a region's or frame's span; `None` for every other address.
///
/// Thread-safe; the answer is valid only as long as the span is.
pub fn lookup(p: *const u8) -> Option<SpanInfo> {
    let span = MAP.span_of_bin(MAP.bin_of(p)?)?;
    // SAFETY: records of entered spans are committed.
    unsafe {
        let kind = (*span).kind();
        matches!(kind, Kind::Region | Kind::Frame).then(|| SpanInfo {
            kind,
            owner: (*span).owner.load(Relaxed),
            start: (*span).start as *mut u8,
            len: ((*span).units as usize) << UNIT_SHIFT,
        })
    }
}
