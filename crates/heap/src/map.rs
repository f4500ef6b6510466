//! The span map: "whose is this pointer?" in a few instructions.
//!
//! ```text
//!                                                     base                limit (in units)
//!   │ span records: one a unit │ span map: one word a unit │ unit 0 │ units … │ not opened yet …
//! ```
//! The map ends where the units begin, so one register leads to both.
//! All memory lies in one window of addresses. The word for a unit points to a [`Bin`]:
//!
//! - a unit that holds blocks of a thread: that thread's front cache for their class, so that one
//!   load gives owner, class and cache together;
//! - any other span (large block, region, frame, heap's own): the bin at the head of its
//!   [`Span`](crate::record::Span) record, which no thread owns;
//! - no span: one of the static bins below.
//!
//! Every bin starts with the same fields, and `thread` never matches for those that are not a
//! thread's own, so `free` may compare first and ask what it is only on the slow path.

use crate::layout::{MAP_BYTES, UNIT, UNIT_SHIFT};
use crate::record::Span;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

/// A front cache: a stack of pointers to free blocks of one class.
///
/// `base` points to a null word, the bottom that a pop finds when the cache is empty; `top` points
/// past the newest entry; the cache is full when `top == end`.
#[repr(C)]
#[derive(Debug)]
pub struct Bin {
    /// Past the newest entry.
    pub top: *mut *mut u8,
    /// Where `top` is when the cache is full.
    pub end: *mut *mut u8,
    /// The thread pointer of the owner; 0 when no thread may use the cache without the lock.
    pub thread: AtomicUsize,
    /// The null word below the oldest entry.
    pub base: *mut *mut u8,
}

impl Bin {
    /// A bin that belongs to nobody.
    pub const fn nobody() -> Bin {
        Bin {
            top: ptr::null_mut(),
            end: ptr::null_mut(),
            thread: AtomicUsize::new(0),
            base: ptr::null_mut(),
        }
    }

    /// Entries in the cache. Only its owner may ask.
    pub fn len(&self) -> usize {
        // SAFETY: `top` and `base` point into the same array, `top` above `base`.
        unsafe { self.top.offset_from(self.base) as usize - 1 }
    }

    /// Entries that fit now. Only its owner may ask.
    pub fn cap(&self) -> usize {
        // SAFETY: `end` and `base` point into the same array, `end` above `base`.
        unsafe { self.end.offset_from(self.base) as usize - 1 }
    }
}

/// A static bin; shared because nobody writes to it.
pub struct StaticBin(Bin);
// SAFETY: static bins are never written; only their addresses matter.
unsafe impl Sync for StaticBin {}

/// Marks units that no span covers.
pub static FREE: StaticBin = StaticBin(Bin::nobody());
/// Marks units that somebody else's mapping covers.
pub static FOREIGN: StaticBin = StaticBin(Bin::nobody());
/// Marks unit 0, and units on their way to a new owner.
pub static INTERNAL: StaticBin = StaticBin(Bin::nobody());

impl StaticBin {
    /// The bin's address, as the map holds it.
    pub fn entry(&'static self) -> *mut Bin {
        (&raw const self.0).cast_mut()
    }
}

/// Where the window is; all zero until the first allocation.
#[repr(C)]
pub struct Map {
    /// Address of unit 0, and the end of the map.
    base: AtomicUsize,
    /// Number of units whose words are valid.
    limit: AtomicUsize,
    /// Address of the span records.
    spans: AtomicUsize,
}

/// The map of this process.
pub static MAP: Map =
    Map { base: AtomicUsize::new(0), limit: AtomicUsize::new(0), spans: AtomicUsize::new(0) };

impl Map {
    /// Offset of the limit in the map, for assembly.
    pub const LIMIT_OFFSET: usize = core::mem::offset_of!(Map, limit);

    /// The address of unit 0, and the number of the unit that holds `p` counted from there.
    #[inline(always)]
    pub fn base_and_unit(&self, p: *const u8) -> (usize, usize) {
        let base = self.base.load(Relaxed);
        (base, (p as usize).wrapping_sub(base) >> UNIT_SHIFT)
    }

    /// The word for a unit.
    ///
    /// # Safety
    /// `base` is the address of unit 0 and `unit` below the limit.
    #[inline(always)]
    pub unsafe fn entry(&self, base: usize, unit: usize) -> *mut Bin {
        // SAFETY: words below `limit` are committed and hold pointers to bins.
        unsafe { (*Self::word(base, unit)).load(Relaxed) }
    }

    #[inline(always)]
    fn word(base: usize, unit: usize) -> *const AtomicPtr<Bin> {
        let start = base.wrapping_sub(MAP_BYTES) as *const AtomicPtr<Bin>;
        start.wrapping_add(unit)
    }

    /// The bin for the unit that holds `p`; `None` when `p` lies outside everything known.
    #[inline(always)]
    pub fn bin_of(&self, p: *const u8) -> Option<*mut Bin> {
        let (base, unit) = self.base_and_unit(p);
        // SAFETY: the unit is below the limit.
        (unit < self.limit.load(Relaxed)).then(|| unsafe { self.entry(base, unit) })
    }

    /// The bin for a unit below the limit.
    #[inline]
    pub fn bin_at(&self, unit: usize) -> *mut Bin {
        debug_assert!(unit < self.limit.load(Relaxed));
        // SAFETY: the caller's unit is below `limit`.
        unsafe { self.entry(self.base.load(Relaxed), unit) }
    }

    /// The number of units the map knows.
    #[inline]
    pub fn limit(&self) -> usize {
        self.limit.load(Relaxed)
    }

    /// The unit that holds an address of the window.
    #[inline]
    pub fn unit_of(&self, p: usize) -> usize {
        p.wrapping_sub(self.base.load(Relaxed)) >> UNIT_SHIFT
    }

    /// The address of a unit.
    #[inline]
    pub fn address_of(&self, unit: usize) -> usize {
        self.base.load(Relaxed) + unit * UNIT
    }

    /// The span record of a unit.
    #[inline]
    pub fn span(&self, unit: usize) -> *mut Span {
        (self.spans.load(Relaxed) as *mut Span).wrapping_add(unit)
    }

    /// The unit a span record stands for.
    #[inline]
    pub fn unit_of_span(&self, span: *const Span) -> usize {
        (span as usize - self.spans.load(Relaxed)) / size_of::<Span>()
    }

    /// The span record that a bin heads; `None` for a front cache or a static bin.
    #[inline]
    pub fn span_of_bin(&self, bin: *const Bin) -> Option<*mut Span> {
        let offset = (bin as usize).wrapping_sub(self.spans.load(Relaxed));
        (offset < self.limit() * size_of::<Span>()).then_some(bin.cast_mut().cast())
    }

    /// Enters `bin` for `count` units from `unit`.
    ///
    /// # Safety
    /// The words are committed and the caller owns the units.
    pub unsafe fn enter(&self, unit: usize, count: usize, bin: *mut Bin) {
        let base = self.base.load(Relaxed);
        for i in unit..unit + count {
            // SAFETY: the caller's contract.
            unsafe { (*Self::word(base, i)).store(bin, Relaxed) };
        }
    }

    /// Tells the map where unit 0 and the span records are. Once, by the span source.
    pub(crate) fn place(&self, base: usize, spans: usize) {
        self.spans.store(spans, Relaxed);
        self.base.store(base, Relaxed);
    }

    /// Makes the words of all units below `limit` known. Only the span source, with its lock held,
    /// after it has written them.
    pub(crate) fn extend(&self, limit: usize) {
        self.limit.store(limit, Relaxed);
    }
}
