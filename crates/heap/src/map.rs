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
//! Every bin has a holder, and its `thread` never matches for those that are not a thread's own, so
//! `free` may compare first and ask what it is only on the slow path.

use crate::heap::Heap;
use crate::layout::{MAP_BYTES, UNIT, UNIT_SHIFT};
use crate::record::Span;
use core::mem::offset_of;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

/// What the map points to: a front cache, a stack of pointers to free blocks of one class.
///
/// `top` points past the newest entry; the cache is full when `top == end`. Who may use it stands
/// in its [`Holder`], which lies [`HOLDER`] bytes behind, on another cache line: other threads read
/// it at every remote free, while the owner writes `top` all the time.
#[repr(C)]
#[derive(Debug)]
pub struct Bin {
    /// Past the newest entry.
    pub top: *mut *mut u8,
    /// Where `top` is when the cache is full.
    pub end: *mut *mut u8,
}

/// Whose a [`Bin`] is, and where its stack starts.
#[repr(C)]
#[derive(Debug)]
pub struct Holder {
    /// The thread pointer of the owner; 0 when no thread may use the cache without the lock.
    pub thread: AtomicUsize,
    /// The null word below the oldest entry: what a pop from an empty cache finds.
    pub base: *mut *mut u8,
}

/// Bytes from a bin to its holder.
pub const HOLDER: usize = 64;
/// Bins in a group.
pub const GROUP: usize = HOLDER / size_of::<Bin>();

/// Four bins and, a cache line further, their four holders.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct BinGroup {
    /// The bins.
    pub bins: [Bin; GROUP],
    /// Their holders.
    pub holders: [Holder; GROUP],
}

const _: () = assert!(size_of::<BinGroup>() == 128 && offset_of!(BinGroup, holders) == HOLDER);

impl Bin {
    /// A bin without a stack.
    pub const fn none() -> Bin {
        Bin { top: ptr::null_mut(), end: ptr::null_mut() }
    }

    /// The holder of a bin.
    #[inline(always)]
    pub fn holder(bin: *const Bin) -> *mut Holder {
        bin.cast_mut().wrapping_byte_add(HOLDER).cast()
    }
}

impl Holder {
    /// No thread's.
    pub const fn nobody() -> Holder {
        Holder { thread: AtomicUsize::new(0), base: ptr::null_mut() }
    }
}

impl BinGroup {
    /// Bins without stacks that no thread holds.
    pub const fn new() -> BinGroup {
        BinGroup {
            bins: [const { Bin::none() }; GROUP],
            holders: [const { Holder::nobody() }; GROUP],
        }
    }
}

impl Default for BinGroup {
    fn default() -> Self {
        Self::new()
    }
}

/// A front cache whose bin the caller may change: its thread, or whoever holds the lock of a heap
/// that belongs to no thread.
#[derive(Clone, Copy)]
pub struct Cache(*mut Bin);

impl Cache {
    /// The cache of a bin.
    ///
    /// # Safety
    /// The bin is in a heap, and the caller's to change as long as this value is used.
    #[inline(always)]
    pub unsafe fn new(bin: *mut Bin) -> Cache {
        Cache(bin)
    }

    /// The bin.
    #[inline(always)]
    pub fn bin(self) -> *mut Bin {
        self.0
    }

    /// The place of the oldest entry.
    #[inline]
    pub fn entries(self) -> *mut *mut u8 {
        // SAFETY: bins in heaps have holders; above the base lies the room for entries.
        unsafe { (*Bin::holder(self.0)).base.add(1) }
    }

    /// Number of entries.
    #[inline]
    pub fn len(self) -> usize {
        // SAFETY: `top` lies in the stack, at or above the oldest entry's place.
        unsafe { (*self.0).top.offset_from(self.entries()) as usize }
    }

    /// Number of entries that fit.
    #[inline]
    pub fn cap(self) -> usize {
        // SAFETY: `end` lies in the stack, at or above the oldest entry's place.
        unsafe { (*self.0).end.offset_from(self.entries()) as usize }
    }

    /// The newest entry; null when there is none.
    #[inline]
    pub fn newest(self) -> *mut u8 {
        // SAFETY: below the oldest entry's place lies a null word.
        unsafe { *(*self.0).top.sub(1) }
    }

    /// True when no entry fits any more.
    #[inline]
    pub fn is_full(self) -> bool {
        // SAFETY: the bin is the caller's.
        unsafe { (*self.0).top == (*self.0).end }
    }

    /// Takes the newest entry; null when there is none.
    #[inline]
    pub fn pop(self) -> *mut u8 {
        let block = self.newest();
        if !block.is_null() {
            // SAFETY: there is an entry, so `top` stays at or above the oldest one's place.
            unsafe { (*self.0).top = (*self.0).top.sub(1) };
        }
        block
    }

    /// Adds an entry.
    ///
    /// # Safety
    /// The cache is not full, and the block belongs to its heap and class and is nobody's.
    #[inline]
    pub unsafe fn push(self, block: *mut u8) {
        // SAFETY: there is room below `end`.
        unsafe {
            *(*self.0).top = block;
            (*self.0).top = (*self.0).top.add(1);
        }
    }

    /// Says that the first `len` entries are valid and no others.
    ///
    /// # Safety
    /// They are, and `len` does not exceed the room.
    #[inline]
    pub unsafe fn set_len(self, len: usize) {
        // SAFETY: the caller's contract.
        unsafe { (*self.0).top = self.entries().add(len) };
    }

    /// Sets how many entries fit.
    ///
    /// # Safety
    /// The stack has the room, and no more than that are in it.
    #[inline]
    pub unsafe fn set_cap(self, cap: usize) {
        // SAFETY: the caller's contract.
        unsafe { (*self.0).end = self.entries().add(cap) };
    }

    /// Moves the entries to another stack, with room for `cap`.
    ///
    /// # Safety
    /// `base` is followed by room for `cap` entries, at least as many as there are.
    pub unsafe fn move_to(self, base: *mut *mut u8, cap: usize) {
        // SAFETY: the caller's contract; the stacks do not overlap.
        unsafe {
            let len = self.len();
            *base = ptr::null_mut();
            ptr::copy_nonoverlapping(self.entries(), base.add(1), len);
            (*Bin::holder(self.0)).base = base;
            self.set_len(len);
            self.set_cap(cap);
        }
    }
}

/// A static bin; shared because nobody writes to it.
pub struct StaticBin(BinGroup);
// SAFETY: static bins are never written; only their addresses matter.
unsafe impl Sync for StaticBin {}

/// Marks units that no span covers.
pub static FREE: StaticBin = StaticBin(BinGroup::new());
/// Marks units that somebody else's mapping covers.
pub static FOREIGN: StaticBin = StaticBin(BinGroup::new());
/// Marks unit 0, and units on their way to a new owner.
pub static INTERNAL: StaticBin = StaticBin(BinGroup::new());

impl StaticBin {
    /// The bin's address, as the map holds it.
    pub fn entry(&'static self) -> *mut Bin {
        (&raw const self.0).cast_mut().cast()
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
    pub const LIMIT_OFFSET: usize = offset_of!(Map, limit);

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

    /// The heap that a bin is in, and its class; `None` for a static bin or one that heads a record.
    #[inline]
    pub fn heap_of_bin(&self, bin: *const Bin) -> Option<(*mut Heap, usize)> {
        // Heaps lie in units; records and static bins do not.
        if self.unit_of(bin as usize) >= self.limit() {
            return None;
        }
        // A heap starts at a unit, with its bins.
        let offset = bin as usize % UNIT;
        let class = offset / size_of::<BinGroup>() * GROUP + offset % HOLDER / size_of::<Bin>();
        Some(((bin as usize - offset) as *mut Heap, class))
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
