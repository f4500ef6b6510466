//! What the span map knows about any address.

use crate::base::class::{Class, RECIPROCAL_SHIFT};
use crate::base::hardening::EXACT;
use crate::map::bin::{FOREIGN, FREE, INTERNAL};
use crate::map::far::FAR;
use crate::map::record::{Kind, Span};
use crate::map::span_map::MAP;
use allod_os::vm;
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
    /// In free memory that Allod holds.
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

/// What the span map knows about `p`, which may be any address. Thread-safe, and never touches the memory at
/// `p`; if other threads allocate or free that memory meanwhile, the answer may be out of date.
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
    let Some(bin) = MAP.bin_of(p) else {
        return FAR.block_of(p).map_or(Owner::Unknown, |(start, size)| Owner::Large {
            start,
            size,
            offset: p as usize - start,
        });
    };
    if bin == FREE.entry() {
        return Owner::Free;
    }
    if bin == FOREIGN.entry() {
        return Owner::Unknown;
    }
    if bin == INTERNAL.entry() {
        return Owner::Internal;
    }
    let span = MAP.span_of_bin(bin).unwrap_or_else(|| Span::of_block(p));
    // SAFETY: records of entered spans are committed; fields may change under us, and are only shown.
    unsafe {
        match (*span).kind() {
            Kind::Slab => block_in(span, p as usize),
            Kind::Large => Owner::Large {
                start: (*span).start,
                size: usable_in_large(span),
                offset: (p as usize).wrapping_sub((*span).start),
            },
            Kind::Region => Owner::Region { owner: (*span).owner.load(Relaxed) as usize },
            Kind::Frame => Owner::Frame { owner: (*span).owner.load(Relaxed) as usize },
            Kind::Guarded => guarded(span, p as usize),
            Kind::Internal => Owner::Internal,
            Kind::Free => Owner::Free,
        }
    }
}

unsafe fn guarded(span: *mut Span, p: usize) -> Owner {
    // SAFETY: a slot's record, see `owner_of`.
    unsafe {
        let (start, size) = ((*span).start, (*Span::large(span)).bytes);
        match p.wrapping_sub(start) {
            offset if offset < size.max(1) => {
                Owner::Block { start, size, offset, in_use: (*span).is_live(), heap: 0 }
            }
            _ => Owner::Internal,
        }
    }
}

unsafe fn block_in(span: *mut Span, p: usize) -> Owner {
    // SAFETY: a slab's record, see `owner_of`.
    unsafe {
        let slab = *Span::slab(span);
        let start = (*span).start;
        let offset = p.wrapping_sub(start);
        let index = (offset as u64).wrapping_mul(slab.reciprocal) >> RECIPROCAL_SHIFT;
        if p < start || index >= u64::from(slab.blocks) {
            return Owner::Free;
        }
        let index = index as usize;
        let size = slab.size as usize;
        Owner::Block {
            start: start + index * size,
            size: Class::new(slab.class as usize).usable(),
            offset: offset - index * size,
            in_use: (*Span::bitmap(span))[index / 64] >> (index % 64) & 1 == 0,
            heap: (*span).owner.load(Relaxed) as usize,
        }
    }
}

/// Bytes usable in a large block: to the end of its last page, or to its own where sizes are exact.
///
/// # Safety
/// The record of a large block.
pub unsafe fn usable_in_large(span: *mut Span) -> usize {
    // SAFETY: the caller's contract.
    unsafe {
        let start = (*span).start;
        if EXACT {
            return (*Span::large(span)).bytes;
        }
        (start + (*Span::large(span)).bytes).next_multiple_of(vm::page_size()) - start
    }
}
