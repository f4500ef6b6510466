//! Span records: what is known of each span, kept far from the memory that users write to.
//!
//! One record stands for each unit, 640 bytes for 64 KiB (under 1 %), and only the record of a
//! span's first unit is used, so most are never touched. The record of a slab holds the bitmap of
//! its free blocks.

use crate::map::{Bin, MAP};
use crate::source::SOURCE;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering::Relaxed};

/// What a span is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Free, its pages as their last user left them or already given back.
    Free = 0,
    /// A slab: blocks of one size class.
    Slab = 1,
    /// One large block.
    Large = 2,
    /// The heap's own data.
    Internal = 3,
    /// A region's chunk; `owner` is the region layer's.
    Region = 4,
    /// A frame arena's chunk; `owner` is the frame layer's.
    Frame = 5,
}

impl Kind {
    /// Number of kinds.
    pub const COUNT: usize = 6;

    fn from_u8(x: u8) -> Kind {
        match x {
            1 => Kind::Slab,
            2 => Kind::Large,
            3 => Kind::Internal,
            4 => Kind::Region,
            5 => Kind::Frame,
            _ => Kind::Free,
        }
    }
}

/// Words in a slab's bitmap: room for 4096 blocks.
pub const BITMAP_WORDS: usize = 64;

/// The record of a span.
///
/// While a span is free its fields serve the span source, under the source's lock; while it is a
/// slab they serve the heap that owns it, under that heap's lock.
#[repr(C, align(64))]
pub struct Span {
    /// What the span map points to when no front cache owns the blocks.
    pub bin: Bin,
    kind: AtomicU8,
    /// Size class of a slab.
    pub class: u8,
    /// Units from the span's first one to this one (slabs of several units only).
    pub back: u8,
    /// True when the span's pages hold zeros only (free runs, and large blocks when handed out).
    pub clean: bool,
    /// Units in the span; of a free run, also in the record of its last unit.
    pub units: u32,
    /// A slab's or large block's heap; the region or frame layer's word otherwise.
    pub owner: AtomicPtr<()>,
    /// Address of the first block, or of the large block.
    pub start: usize,
    /// Bytes asked for by the user of a large block.
    pub bytes: usize,

    /// ⌈2^40 / block size⌉.
    pub reciprocal: u64,
    /// Block size.
    pub size: u32,
    /// Number of blocks.
    pub blocks: u32,
    /// Number of blocks free in the bitmap.
    pub free: u32,
    /// No bitmap word below this one has a bit set.
    pub hint: u32,
    /// Neighbours in the owner's list of slabs with free blocks, or in a list of free runs.
    pub prev: u32,
    /// See `prev`.
    pub next: u32,
    /// Neighbours in the owner's list of all spans, or in the list of dirty runs by age.
    pub all_prev: u32,
    /// See `all_prev`.
    pub all_next: u32,
    /// When the span was last used, in milliseconds modulo 2^32.
    pub stamp: u32,
    /// True while the slab is in its owner's list of slabs with free blocks.
    pub listed: bool,
    /// True when its free pages were given back and no block was freed since.
    pub purged: bool,
    /// True when blocks came or went since the purger last looked.
    pub touched: bool,
    /// True while a free run's pages are being given back.
    pub busy: bool,

    /// One bit a block, set while it is free and not in a front cache.
    pub bitmap: [u64; BITMAP_WORDS],
}

const _: () = assert!(size_of::<Span>() == 640);

impl Span {
    /// What the span is used for.
    #[inline]
    pub fn kind(&self) -> Kind {
        Kind::from_u8(self.kind.load(Relaxed))
    }

    /// Sets what the span is used for.
    #[inline]
    pub fn set_kind(&self, kind: Kind) {
        self.kind.store(kind as u8, Relaxed);
    }
}

/// What the span map knows of an address in a region's or frame's span.
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
    if bytes > crate::layout::MAX_SIZE {
        return None;
    }
    let units = crate::layout::units_for(bytes).max(1);
    let run = SOURCE.take(units, crate::layout::units_for(align).max(1), kind)?;
    let span = MAP.span(run.unit);
    // SAFETY: the run is ours alone until it is entered in the map.
    unsafe {
        (*span).start = MAP.address_of(run.unit);
        (*span).bytes = bytes;
        (*span).owner.store(owner, Relaxed);
        MAP.enter(run.unit, units, &raw mut (*span).bin);
        Some(NewSpan {
            start: (*span).start as *mut u8,
            len: units << crate::layout::UNIT_SHIFT,
            zeroed: run.clean,
        })
    }
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
        SOURCE.give(unit, (*span).units as usize, (*span).kind(), false);
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

/// What is known of an address inside a region's or frame's span; `None` for every other address.
///
/// Thread-safe; the answer is only as stable as the span is.
pub fn lookup(p: *const u8) -> Option<SpanInfo> {
    let span = MAP.span_of_bin(MAP.bin_of(p)?)?;
    // SAFETY: records of entered spans are committed.
    unsafe {
        let kind = (*span).kind();
        matches!(kind, Kind::Region | Kind::Frame).then(|| SpanInfo {
            kind,
            owner: (*span).owner.load(Relaxed),
            start: (*span).start as *mut u8,
            len: ((*span).units as usize) << crate::layout::UNIT_SHIFT,
        })
    }
}
