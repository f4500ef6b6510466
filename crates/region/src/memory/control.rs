//! The layout of the region control block and of chunk headers.
//!
//! Invariant: `cursor ≤ limit`, both in the inline buffer or both in the newest bump chunk, and
//! `first..cursor` of that memory holds the region's objects. `cursor` is a multiple of 8.

use crate::base::check::CHECKED;
use crate::base::scratch::{Map, Stack};
use crate::memory::counts::Counts;
use allod_heap::layout::UNIT;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr};

/// Bytes of the inline buffer that a region's cursor starts in.
pub const INLINE_BYTES: usize = 512;
/// Bytes of a control block with its inline buffer: what an empty region costs.
pub const BLOCK_BYTES: usize = size_of::<Control>();

/// A region. C code that includes `allod/region.h` knows the first two fields.
///
/// The fields that opening, allocating and leaving touch come first, and the inline buffer follows: a small
/// region touches one or two cache lines. The rest is for regions that are shared, spliced or grown.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Control {
    /// Where the next object goes.
    pub cursor: *mut u8,
    /// Where the inline buffer or the newest chunk ends.
    pub limit: *mut u8,
    /// What keeps the region alive.
    pub counts: Counts,
    /// First byte for objects in the inline buffer or the newest chunk.
    pub first: *mut u8,
    pub(crate) inline: [u64; INLINE_BYTES / 8],
    /// The next dead region about to be dismantled, or the next block of the merged list.
    pub(crate) next: *mut Control,
    /// Newest and oldest chunk.
    pub(crate) newest: *mut Chunk,
    pub(crate) oldest: *mut Chunk,
    /// Control blocks of regions that were spliced into this one; each keeps its own chunks.
    pub(crate) merged: *mut Control,
    pub(crate) merged_last: *mut Control,
    /// The region that this one was spliced into, or will be when it is reclaimed.
    pub(crate) heir: AtomicPtr<Control>,
    /// The region this one was created in; this one holds a reference to it.
    pub(crate) parent: *mut Control,
    /// Regions this one holds references to, besides its parent; null without any.
    pub(crate) kept: *mut Kept,
    /// Bytes in use, except in the memory the cursor is in. In the newest of the merged blocks,
    /// whose objects belong to their heir: bytes of moves out of the merged memory that were undone.
    pub(crate) retired: usize,
    pub(crate) repairs: u32,
    pub(crate) inline_used: u16,
    pub(crate) frozen: bool,
    /// True when its memory is its heir's, so that `heir` holds no reference and may be shortened.
    pub(crate) handed_over: AtomicBool,
}

/// The regions that one region keeps alive.
pub struct Kept {
    /// Checked one by one: their heirs, and what they hold in turn.
    pub(crate) some: Stack<*mut Control>,
    /// Frozen regions that hold no others, hashed by address: they do not change, so however many
    /// there are, one is found in constant time.
    pub(crate) settled: Map<()>,
    /// Regions that a search has found to outlive this one, which stays so: no search for them again.
    pub(crate) found: Map<()>,
}

const _: () = assert!(size_of::<Control>() == 640);

/// The head of a chunk; objects follow.
#[repr(C)]
#[derive(Debug)]
pub struct Chunk {
    pub(crate) older: *mut Chunk,
    pub(crate) newer: *mut Chunk,
    /// Past the last byte.
    pub(crate) limit: *mut u8,
    /// Past the last object, once the cursor has left the chunk; its first byte while the cursor is in it.
    pub(crate) top: *mut u8,
    /// The word that names the region in the span's directory.
    pub(crate) owner: *const AtomicPtr<Control>,
    pub(crate) size: ChunkSize,
    /// Holds one block that was too large for the others.
    pub(crate) own: bool,
    /// The directory, if the chunk has a span of its own.
    pub(crate) dir: OneSlot,
}

/// The directory of a chunk with a span of its own, one slot from end to end; kept in the chunk's head.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct OneSlot {
    /// 0, so that every offset is in slot 0.
    pub mul: u64,
    pub owner: AtomicPtr<Control>,
}

/// How large a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkSize {
    K4,
    K16,
    /// A span of its own.
    Span(usize),
}

impl Chunk {
    /// First byte for objects.
    #[inline(always)]
    pub(crate) fn first(c: *mut Chunk) -> *mut u8 {
        c.wrapping_add(1).cast()
    }
}

impl ChunkSize {
    pub(super) fn bytes(self) -> usize {
        match self {
            ChunkSize::K4 => 4096,
            ChunkSize::K16 => 16384,
            ChunkSize::Span(bytes) => bytes,
        }
    }

    pub(super) fn grown(self) -> ChunkSize {
        match self {
            ChunkSize::K4 => ChunkSize::K16,
            ChunkSize::K16 => ChunkSize::Span(UNIT),
            ChunkSize::Span(bytes) => ChunkSize::Span((2 * bytes).min(LARGEST)),
        }
    }
}

/// Chunks grow up to this: a huge page, which the heap asks for where it pays, and so little that the room left in
/// the newest one does not matter.
pub(super) const LARGEST: usize = 2 << 20;

impl Control {
    /// First byte of the inline buffer.
    #[inline(always)]
    pub(crate) fn inline_start(r: *mut Control) -> *mut u8 {
        // SAFETY: only an address is computed.
        unsafe { (&raw mut (*r).inline).cast() }
    }

    /// Empties the inline buffer of a region that has used nothing else.
    ///
    /// # Safety
    /// As for [`Control::rewind`]; the cursor is in the inline buffer.
    #[inline(always)]
    pub(crate) unsafe fn empty(r: *mut Control) {
        // SAFETY: the caller's contract.
        unsafe { (*r).cursor = Control::inline_start(r) };
    }

    /// Points the cursor at an empty inline buffer.
    ///
    /// # Safety
    /// The block is the caller's alone.
    #[inline(always)]
    pub(crate) unsafe fn rewind(r: *mut Control) {
        let start = Control::inline_start(r);
        // SAFETY: the caller's contract.
        unsafe {
            (*r).cursor = start;
            (*r).first = start;
            (*r).limit = start.add(INLINE_BYTES);
        }
    }

    /// In checked builds, leaves no room in a pooled region, so that wrong use is detected.
    ///
    /// # Safety
    /// As for [`Control::rewind`].
    #[inline(always)]
    pub(crate) unsafe fn close(r: *mut Control) {
        if CHECKED {
            // SAFETY: the caller's contract.
            unsafe { (*r).limit = (*r).cursor };
        }
    }

    /// Makes an empty pooled region of 640 bytes of slot memory.
    ///
    /// # Safety
    /// `r` points to a block's memory, the caller's alone.
    pub(crate) unsafe fn init(r: *mut Control) {
        // SAFETY: the caller's contract; all fields but the inline buffer are written.
        unsafe {
            (&raw mut (*r).counts).write(Counts::new());
            (*r).next = ptr::null_mut();
            Control::clear(r);
        }
    }

    /// Resets everything but the counts and the pool link.
    ///
    /// # Safety
    /// As for [`Control::init`].
    pub(crate) unsafe fn clear(r: *mut Control) {
        // SAFETY: the caller's contract.
        unsafe {
            Control::rewind(r);
            (*r).newest = ptr::null_mut();
            (*r).oldest = ptr::null_mut();
            (*r).merged = ptr::null_mut();
            (*r).merged_last = ptr::null_mut();
            (&raw mut (*r).heir).write(AtomicPtr::new(ptr::null_mut()));
            (*r).parent = ptr::null_mut();
            (*r).kept = ptr::null_mut();
            (*r).retired = 0;
            (*r).inline_used = 0;
            (*r).repairs = 0;
            (*r).frozen = false;
            (&raw mut (*r).handed_over).write(AtomicBool::new(false));
        }
    }
}

/// Bytes of a chunk's head.
pub(crate) const HEAD: usize = size_of::<Chunk>();
