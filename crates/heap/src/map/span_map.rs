//! The span map: "whose is this pointer?" in a few instructions.
//!
//! ```text
//!                                                       base               limit (in units)
//!  │ backs: a byte │ span records: one │ span map: one word │ unit 0 │ units … │ not opened yet …
//!  │ per unit      │ per unit          │ per unit           │        │         │
//! ```
//! The map ends where the units begin, so one register leads to both.
//! All memory lies in one window of addresses. The word for a unit points to a [`Bin`]:
//!
//! - a unit that holds blocks of a thread: that thread's front cache for their class, so that one
//!   load gives owner, class and cache together;
//! - any other span (large block, region, frame, heap's own): the bin at the head of its
//!   [`Span`] record, which no thread owns;
//! - no span: one of the static bins [`FREE`](super::bin::FREE), [`FOREIGN`](super::bin::FOREIGN),
//!   [`INTERNAL`](super::bin::INTERNAL).
//!
//! Every bin has a holder, and its `thread` never matches for those that are not a thread's own, so
//! `free` may compare first and ask what it is only on the slow path.
//!
//! **Order between threads.** A program may pass a pointer to another thread through a relaxed
//! atomic, which orders nothing; the other thread's `free` must not find the old word.
//! On x86-64 stores are seen in order, so a pointer is never seen before the word. Elsewhere
//! the writer issues a full fence after writing the words and before handing out the block ([`Map::publish`]),
//! and the reader's load of the word depends on the pointer, which orders it after the load of the pointer.

use crate::base::layout::{MAP_BYTES, UNIT, UNIT_SHIFT, Unit};
use crate::map::bin::Bin;
use crate::map::record::Span;
use core::sync::atomic::{
    AtomicPtr, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release, fence,
};

/// Where the window is; all zero until the first allocation.
#[repr(C)]
pub struct Map {
    /// Address of unit 0, and the end of the map.
    base: AtomicUsize,
    /// Number of units whose words are valid.
    limit: AtomicUsize,
    /// Address of the span records.
    spans: AtomicUsize,
    /// Address of the backs: one byte per unit, close together because every returned block reads one.
    backs: AtomicUsize,
}

/// The map of this process.
pub static MAP: Map = Map {
    base: AtomicUsize::new(0),
    limit: AtomicUsize::new(0),
    spans: AtomicUsize::new(0),
    backs: AtomicUsize::new(0),
};

impl Map {
    /// Offset of the limit in the map, for assembly.
    #[cfg(target_arch = "x86_64")]
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

    /// The bin for the unit that holds `p`; `None` when `p` lies outside all known units.
    #[inline(always)]
    pub fn bin_of(&self, p: *const u8) -> Option<*mut Bin> {
        let (base, unit) = self.base_and_unit(p);
        // SAFETY: the unit is below the limit.
        (unit < self.limit.load(Relaxed)).then(|| unsafe { self.entry(base, unit) })
    }

    /// The same for a block's pointer, which this thread may see before it sees the map's new limit.
    #[inline]
    pub fn bin_of_block(&self, p: *const u8) -> Option<*mut Bin> {
        self.bin_of(p).or_else(|| self.look_again(p))
    }

    #[cold]
    fn look_again(&self, p: *const u8) -> Option<*mut Bin> {
        fence(Acquire);
        self.bin_of(p)
    }

    /// The address of unit 0; 0 before the window is chosen.
    #[inline]
    pub fn base(&self) -> usize {
        self.base.load(Relaxed)
    }

    /// The number of units the map knows.
    #[inline]
    pub fn limit(&self) -> usize {
        self.limit.load(Relaxed)
    }

    /// True once the window is chosen, and its first units are known.
    #[inline]
    pub fn is_placed(&self) -> bool {
        self.limit() > 0
    }

    /// The unit that holds an address of the window.
    #[inline]
    pub fn unit_of(&self, p: usize) -> Unit {
        Unit::new(p.wrapping_sub(self.base.load(Relaxed)) >> UNIT_SHIFT)
    }

    /// The address of a unit.
    #[inline]
    pub fn address_of(&self, unit: Unit) -> usize {
        self.base.load(Relaxed) + unit.index() * UNIT
    }

    /// The span record of a unit.
    #[inline]
    pub fn span(&self, unit: Unit) -> *mut Span {
        (self.spans.load(Relaxed) as *mut Span).wrapping_add(unit.index())
    }

    /// Units from the first unit of a slab to the one with this number: a byte that the slab's owner
    /// writes, and that anybody may read while the slab is there.
    #[inline]
    pub fn back(&self, unit: Unit) -> *mut u8 {
        (self.backs.load(Relaxed) as *mut u8).wrapping_add(unit.index())
    }

    /// The unit a span record stands for.
    #[inline]
    pub fn unit_of_span(&self, span: *const Span) -> Unit {
        Unit::new((span as usize - self.spans.load(Relaxed)) / size_of::<Span>())
    }

    /// True when the bin is in a heap; false for a static bin or one that heads a record.
    #[inline]
    pub fn is_front_cache(&self, bin: *const Bin) -> bool {
        // Heaps lie in units; records and static bins do not.
        (bin as usize).wrapping_sub(self.base.load(Relaxed)) >> UNIT_SHIFT < self.limit()
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
    pub unsafe fn enter(&self, unit: Unit, count: usize, bin: *mut Bin) {
        let base = self.base.load(Relaxed);
        for i in unit.index()..unit.index() + count {
            // SAFETY: the caller's contract. Release: whoever learns of a pointer into the unit
            // through a word that it reads with acquire finds the record and the bin written.
            unsafe { (*Self::word(base, i)).store(bin, Release) };
        }
    }

    /// Tells the map where unit 0, the span records and the backs are. Once, by the span source.
    pub(crate) fn place(&self, base: usize, spans: usize, backs: usize) {
        self.backs.store(backs, Relaxed);
        self.spans.store(spans, Relaxed);
        self.base.store(base, Relaxed);
    }

    /// Makes the words of all units below `limit` known. Only the span source, with its lock held,
    /// after it has written them.
    pub(crate) fn extend(&self, limit: usize) {
        self.limit.store(limit, Relaxed);
    }

    /// Orders the words that were entered before whatever the caller writes next. Called between
    /// entering a span's words and handing out its first block.
    #[inline]
    pub fn publish(&self) {
        fence(Release);
    }
}
