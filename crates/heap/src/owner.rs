//! What the span map knows of any address.

use crate::map::{FOREIGN, FREE, INTERNAL, MAP};
use crate::record::{Kind, Span};
use core::fmt;
use core::sync::atomic::Ordering::Relaxed;

/// What an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Not Allod's memory, as far as Allod knows.
    Unknown,
    /// In a block of a slab.
    Block {
        /// First byte of the block.
        start: usize,
        /// Usable bytes.
        size: usize,
        /// Bytes from the start of the block to the address.
        offset: usize,
        /// False when the block is free and not in a thread's front cache. A block in a front
        /// cache still counts as in use: only its thread could tell.
        in_use: bool,
        /// A number for the heap that owns it.
        heap: usize,
    },
    /// In a large block.
    Large {
        /// First byte of the block.
        start: usize,
        /// Usable bytes.
        size: usize,
        /// Bytes from the start of the block to the address.
        offset: usize,
    },
    /// In a region's memory.
    Region {
        /// The region layer's word.
        owner: usize,
    },
    /// In a frame arena's memory.
    Frame {
        /// The frame layer's word.
        owner: usize,
    },
    /// In memory that Allod holds and nobody uses now.
    Free,
    /// In Allod's own records.
    Internal,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Owner::Unknown => write!(f, "memory unknown to Allod"),
            Owner::Block { start, size, offset: 0, .. } => {
                write!(f, "start of the {size}-byte block {start:#x}")
            }
            Owner::Block { start, size, offset, .. } => {
                write!(f, "{offset} bytes inside the {size}-byte block {start:#x}")
            }
            Owner::Large { start, size, offset: 0 } => {
                write!(f, "start of the large block {start:#x} of {size} bytes")
            }
            Owner::Large { start, size, offset } => {
                write!(f, "{offset} bytes inside the large block {start:#x} of {size} bytes")
            }
            Owner::Region { owner } => write!(f, "memory of the region {owner:#x}"),
            Owner::Frame { owner } => write!(f, "memory of the frame arena {owner:#x}"),
            Owner::Free => write!(f, "free memory of the heap"),
            Owner::Internal => write!(f, "the heap's own records"),
        }
    }
}

/// What the span map knows of `p`, any address at all. Thread-safe, never touches the memory at
/// `p`; for memory that other threads allocate and free meanwhile the answer may be out of date.
///
/// ```
/// use allod_heap::{malloc, free, owner::{owner_of, Owner}};
/// let p = malloc(100);
/// assert!(matches!(owner_of(p), Owner::Block { size: 112, offset: 0, .. }));
/// assert_eq!(owner_of(&raw const p as *const u8), Owner::Unknown);
/// // SAFETY: allocated above.
/// unsafe { free(p) };
/// ```
pub fn owner_of(p: *const u8) -> Owner {
    let Some(bin) = MAP.bin_of(p) else { return Owner::Unknown };
    if bin == FREE.entry() {
        return Owner::Free;
    }
    if bin == FOREIGN.entry() {
        return Owner::Unknown;
    }
    if bin == INTERNAL.entry() {
        return Owner::Internal;
    }
    let span = MAP.span_of_bin(bin).unwrap_or_else(|| slab_of(p));
    // SAFETY: records of entered spans are committed; fields may change under us, and are only shown.
    unsafe {
        match (*span).kind() {
            Kind::Slab => block_in(span, p as usize),
            Kind::Large => Owner::Large {
                start: (*span).start,
                size: crate::large::usable(span),
                offset: (p as usize).wrapping_sub((*span).start),
            },
            Kind::Region => Owner::Region { owner: (*span).owner.load(Relaxed) as usize },
            Kind::Frame => Owner::Frame { owner: (*span).owner.load(Relaxed) as usize },
            Kind::Internal => Owner::Internal,
            Kind::Free => Owner::Free,
        }
    }
}

/// The record of the slab whose block holds `p`, which must lie in a unit with a front cache's bin.
#[inline]
pub(crate) fn slab_of(p: *const u8) -> *mut Span {
    let span = MAP.span(MAP.unit_of(p as usize));
    // SAFETY: every unit of a slab has a valid record that says how far its first unit is.
    span.wrapping_sub(unsafe { (*span).back } as usize)
}

unsafe fn block_in(span: *mut Span, p: usize) -> Owner {
    // SAFETY: a slab's record, see `owner_of`.
    unsafe {
        let offset = p.wrapping_sub((*span).start);
        let index = (offset as u64).wrapping_mul((*span).reciprocal) >> 40;
        if p < (*span).start || index >= u64::from((*span).blocks) {
            return Owner::Free;
        }
        let index = index as usize;
        let size = (*span).size as usize;
        Owner::Block {
            start: (*span).start + index * size,
            size,
            offset: offset - index * size,
            in_use: (*span).bitmap[index / 64] >> (index % 64) & 1 == 0,
            heap: (*span).owner.load(Relaxed) as usize,
        }
    }
}
