//! Span records: what the heap knows about each span, kept far from the memory that users write to.
//!
//! ```text
//!  0     16             64       80            128                              640
//!  ┌─────┬──────────────┬────────┬─────────────┬────────────────────────────────┐
//!  │ bin │ common fields│ holder │ slab, large,│ slab: bitmap, one bit per block │
//!  │     │              │        │ run: fields │ large: seams                    │
//!  └─────┴──────────────┴────────┴─────────────┴────────────────────────────────┘
//! ```
//! One record stands for each unit, 640 bytes for 64 KiB (under 1 %), and only the record of a
//! span's first unit is used (of a free run also its last), so most are never touched.
//!
//! Who may touch a record: for a free run, the holder of the span source's lock; for a slab or a large block in
//! a heap's list, the holder of that heap's lock; for any other span, its owner. The fields that anybody may read
//! while a span is in use are set before it is entered in the map, and do not change until it is freed.

use crate::base::class::{MOST_BLOCKS, RECIPROCAL_SHIFT};
use crate::base::list::Links;
use crate::map::bin::{Bin, HOLDER, Holder};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering::AcqRel, Ordering::Relaxed};

/// What a span is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Free: filed in the span source, kept near by a heap, or on its way from one to the other.
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
    /// A slot for a guarded block; `owner` is not null while the block is live.
    Guarded = 6,
}

impl Kind {
    /// Number of kinds.
    pub const COUNT: usize = 7;

    fn from_u8(x: u8) -> Kind {
        match x {
            1 => Kind::Slab,
            2 => Kind::Large,
            3 => Kind::Internal,
            4 => Kind::Region,
            5 => Kind::Frame,
            6 => Kind::Guarded,
            _ => Kind::Free,
        }
    }
}

/// Words in a slab's bitmap.
pub const BITMAP_WORDS: usize = MOST_BLOCKS / 64;
/// A slab's bitmap: a bit is set while its block is free and in no front cache.
pub type Bitmap = [u64; BITMAP_WORDS];
/// The seams of a large block, where mappings of moved pages meet: their number, then their offsets.
pub type Seams = [u64; MAX_SEAMS + 1];
/// The most seams that a large block may have.
pub const MAX_SEAMS: usize = 31;

/// The record of a span: what all kinds have in common, and the view of each kind.
#[repr(C, align(64))]
pub struct Span {
    /// What the span map points to if the span is not a slab of a thread.
    pub bin: Bin,
    /// A slab's or large block's heap; the region or frame layer's word otherwise.
    pub owner: AtomicPtr<()>,
    /// Address of the first block, of the large block, or of the span.
    pub start: usize,
    kind: AtomicU8,
    /// True in the first and last record of a run that the span source has filed.
    pub filed: bool,
    /// True in the record of a piece's first unit while the piece is known to be one huge page.
    pub huge: AtomicBool,
    _spare: u8,
    /// Units in the span; of a free run, also in the record of its last unit.
    pub units: u32,
    /// Neighbours in a list of spans of one sort: slabs with free blocks, runs of one length.
    pub sort: Links,
    /// Neighbours in a list by time: all spans of a heap, runs by age.
    pub time: Links,
    _to_the_next_line: u64,
    /// The holder of `bin`: nobody.
    pub holder: Holder,
    view: View,
    tail: Tail,
}

#[repr(C)]
union View {
    slab: Slab,
    large: Large,
    run: Run,
    _room: [u64; 6],
}

#[repr(C)]
union Tail {
    bitmap: Bitmap,
    seams: Seams,
}

/// The fields of a slab's record. Guarded by the lock of the heap that owns it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Slab {
    /// ⌈2^44 / block size⌉.
    pub reciprocal: u64,
    /// Block size.
    pub size: u32,
    /// Number of blocks.
    pub blocks: u16,
    /// Number of blocks free in the bitmap.
    pub free: u16,
    /// No bitmap word below this one has a bit set.
    pub hint: u8,
    /// Number of the size class.
    pub class: u8,
    /// True while the slab is in its heap's list of slabs with free blocks.
    pub listed: bool,
    /// True when no more of its free pages can be given back: all were given back or never touched, and
    /// no block was freed since.
    pub purged: bool,
    /// True when blocks came or went since the purger last looked.
    pub touched: bool,
    /// Blocks below this number have been handed out before; the others never.
    pub used: u16,
    /// Units from the slab's start that may not have read as zero when the slab was made.
    pub dirty_units: u8,
    /// True while pages of it are not accessible.
    pub guarded: bool,
    /// When the slab was last used, in milliseconds modulo 2^32.
    pub stamp: u32,
}

/// The fields of a large block's record. The owner of the block may touch them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Large {
    /// Bytes asked for.
    pub bytes: usize,
    /// The most bytes that the block has ever had.
    pub most: usize,
    /// Units from the span's start that may not have read as zero when they came to the block.
    pub dirty_units: u32,
}

/// The fields of a free run's record. Guarded by the lock of the source, or of the heap that
/// keeps it near.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// When the run was freed, in milliseconds modulo 2^32.
    pub stamp: u32,
    /// Of a run kept near: the units from its start that may not read as zero.
    pub dirty_units: u32,
    /// Of a filed run: true when every byte reads as zero and no page is resident.
    pub clean: bool,
    /// Of a filed run: true when it was due to go back, and was spared for the huge page it is a part of.
    pub spared: bool,
    /// Of a filed run: true when the system has refused to take it.
    pub refused: bool,
}

impl Slab {
    /// The number of the block that starts `offset` bytes after the first one; `None` when none does.
    #[inline]
    pub fn index_of(&self, offset: usize) -> Option<usize> {
        let index = ((offset as u64).wrapping_mul(self.reciprocal) >> RECIPROCAL_SHIFT) as usize;
        (index < self.blocks as usize && index * self.size as usize == offset).then_some(index)
    }
}

const _: () = assert!(size_of::<Span>() == 640);
const _: () = assert!(core::mem::offset_of!(Span, holder) == HOLDER);
const _: () = assert!(core::mem::offset_of!(Span, tail) == 128);

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

    /// Marks a span in use as `kind` as free. False when somebody else has freed it already.
    #[inline]
    pub fn claim(&self, kind: Kind) -> bool {
        let (from, to) = (kind as u8, Kind::Free as u8);
        self.kind.compare_exchange(from, to, AcqRel, Relaxed).is_ok()
    }

    /// True while the guarded block in a slot is live.
    pub fn is_live(&self) -> bool {
        !self.owner.load(Relaxed).is_null()
    }

    /// The view of a slab.
    #[inline]
    pub fn slab(span: *mut Span) -> *mut Slab {
        // SAFETY: only the address is computed; records lie in reserved address space.
        unsafe { &raw mut (*span).view.slab }
    }

    /// A slab's bitmap.
    #[inline]
    pub fn bitmap(span: *mut Span) -> *mut Bitmap {
        // SAFETY: as for `slab`.
        unsafe { &raw mut (*span).tail.bitmap }
    }

    /// The view of a large block.
    #[inline]
    pub fn large(span: *mut Span) -> *mut Large {
        // SAFETY: as for `slab`.
        unsafe { &raw mut (*span).view.large }
    }

    /// A large block's seams.
    #[inline]
    pub fn seams(span: *mut Span) -> *mut Seams {
        // SAFETY: as for `slab`.
        unsafe { &raw mut (*span).tail.seams }
    }

    /// The view of a free run.
    #[inline]
    pub fn run(span: *mut Span) -> *mut Run {
        // SAFETY: as for `slab`.
        unsafe { &raw mut (*span).view.run }
    }
}

/// Lists of spans of one sort.
pub struct BySort;
/// Lists of spans by time.
pub struct ByTime;
