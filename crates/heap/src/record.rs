//! Span records: what is known of each span, kept far from the memory that users write to.
//!
//! One record stands for each unit, 640 bytes for 64 KiB (under 1 %), and only the record of a
//! span's first unit is used, so most are never touched. The record of a slab holds the bitmap of
//! its free blocks.

use crate::map::{Bin, HOLDER, Holder};
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
    /// What the span map points to when the span is no thread's slab.
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
    /// The holder of `bin`: nobody.
    pub holder: Holder,
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
const _: () = assert!(core::mem::offset_of!(Span, holder) == HOLDER);

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
