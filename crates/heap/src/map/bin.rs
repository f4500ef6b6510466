//! Bins: what the span map's words point to.
//!
//! ```text
//!   BinGroup, 128 bytes
//!  ┌────────┬────────┬────────┬────────┐┌──────────┬──────────┬──────────┬──────────┐
//!  │ bin 0  │ bin 1  │ bin 2  │ bin 3  ││ holder 0 │ holder 1 │ holder 2 │ holder 3 │
//!  └────────┴────────┴────────┴────────┘└──────────┴──────────┴──────────┴──────────┘
//!    top, end: the owner's line           thread, base: the line that other threads read
//! ```
//! A heap starts with its bins, at the start of a unit, so a bin's address gives heap and class.

use crate::base::class::{CLASSES, Class};
use crate::base::layout::UNIT;
use core::mem::offset_of;
use core::ptr;
use core::sync::atomic::AtomicUsize;

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

/// Offset in bytes from a bin to its holder.
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
    /// A holder that is no thread.
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

/// The bins of a heap, one for each class, at its start.
pub type Bins = [BinGroup; CLASSES.div_ceil(GROUP)];

/// Bytes from a heap to its bin for a class.
#[inline(always)]
pub const fn bin_offset(class: Class) -> usize {
    class.index() / GROUP * size_of::<BinGroup>() + class.index() % GROUP * size_of::<Bin>()
}

/// The address of the heap that a bin is in, and the bin's class. For bins of heaps only.
#[inline]
pub fn heap_and_class(bin: *const Bin) -> (usize, Class) {
    let offset = bin as usize % UNIT;
    let class = offset / size_of::<BinGroup>() * GROUP + offset % HOLDER / size_of::<Bin>();
    (bin as usize - offset, Class::new(class))
}

const _: () = assert!(size_of::<Bins>() <= UNIT);

/// A static bin; it can be shared because nobody writes to it.
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
