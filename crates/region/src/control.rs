//! The region control block, and allocation's fast path.
//!
//! Invariant: `cursor ≤ limit`, both in the inline buffer or both in the newest bump chunk, and
//! `first..cursor` of that memory holds the region's objects. `cursor` is a multiple of 8.

use crate::check::CHECKED;
use crate::chunk::{self, Chunk};
use crate::counts::Counts;
use allod_heap::layout::UNIT;
use core::ptr;
use core::sync::atomic::AtomicPtr;

/// Bytes of the inline buffer that a region's cursor starts in.
pub const INLINE_BYTES: usize = 512;
/// Bytes of a control block with its inline buffer: what an empty region costs.
pub const BLOCK_BYTES: usize = size_of::<Control>();

/// A region. C code that includes `allod/region.h` knows the first two fields.
///
/// What opening, allocating and leaving touch stands first, and the inline buffer next to it: a small
/// region is one or two cache lines. The rest is for regions that are shared, spliced or grown.
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
    /// The next of the dead regions about to be taken apart, or the next block of the merged list.
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
    /// Regions this one holds references to, besides its parent.
    pub(crate) kept: *mut Kept,
    /// Bytes in use in everything but the memory the cursor is in.
    pub(crate) retired: usize,
    pub(crate) repairs: u32,
    pub(crate) inline_used: u16,
    pub(crate) frozen: bool,
}

/// A list of regions kept alive.
#[repr(C)]
#[derive(Debug)]
pub struct Kept {
    pub(crate) next: *mut Kept,
    pub(crate) region: *mut Control,
}

const _: () = assert!(size_of::<Control>() == 640);

/// How a region uses memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounting {
    /// Bytes of objects, with their headers and what alignment cost.
    pub live: usize,
    /// The most that `live` has been since the region was created: the same, for a region only grows
    /// until it ends.
    pub peak: usize,
    /// Chunks held.
    pub chunks: usize,
    /// Bytes of those chunks.
    pub chunk_bytes: usize,
    /// Bytes in use of the 512 in the inline buffer.
    pub inline_used: usize,
    /// Stores that the barrier repaired by copying into this region or merging with it.
    pub repairs: usize,
}

impl Control {
    /// First byte of the inline buffer.
    #[inline(always)]
    pub(crate) fn inline_start(r: *mut Control) -> *mut u8 {
        // SAFETY: only an address is computed.
        unsafe { (&raw mut (*r).inline).cast() }
    }

    /// Forgets what is in the inline buffer of a region that has used nothing else.
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

    /// In checked builds, leaves no room in a pooled region, so that its use is noticed.
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
        }
    }
}

/// Takes `size` bytes, a multiple of 8, aligned to 8. Null when memory is out.
///
/// The straight line is one compare; a constant `size` becomes an immediate operand.
///
/// # Safety
/// `r` is a region whose scope is open, owned by the calling thread; `size` is a multiple of 8 and at
/// most `PTRDIFF_MAX`.
#[inline(always)]
pub unsafe fn bump(r: *mut Control, size: usize) -> *mut u8 {
    // SAFETY: the caller's contract; the new cursor stays within the limit.
    unsafe {
        let p = (*r).cursor;
        if size > ((*r).limit as usize) - (p as usize) {
            return chunk::bump_slow(r, size);
        }
        (*r).cursor = p.add(size);
        // Spares the callers' test for null on the straight line.
        core::hint::assert_unchecked(!p.is_null());
        p
    }
}

/// Takes `size` bytes at a multiple of `align`, a power of two up to 64 KiB. Null when memory is out,
/// `size` exceeds `PTRDIFF_MAX` or `align` 64 KiB.
///
/// # Safety
/// `r` is a region whose scope is open, owned by the calling thread.
#[inline]
pub unsafe fn bump_aligned(r: *mut Control, size: usize, align: usize) -> *mut u8 {
    debug_assert!(align.is_power_of_two());
    let Some(size) = round_up(size) else { return ptr::null_mut() };
    // SAFETY: the caller's contract.
    unsafe {
        if align <= 8 {
            return bump(r, size);
        }
        if align > UNIT {
            return ptr::null_mut();
        }
        let p = (*r).cursor;
        let pad = (p as usize).wrapping_neg() & (align - 1);
        let room = (*r).limit as usize - p as usize;
        if pad > room || size > room - pad {
            return chunk::bump_aligned_slow(r, size, align);
        }
        (*r).cursor = p.add(pad + size);
        p.add(pad)
    }
}

/// `size` as a multiple of 8; `None` above `PTRDIFF_MAX`.
#[inline(always)]
pub const fn round_up(size: usize) -> Option<usize> {
    if size > isize::MAX as usize - 7 { None } else { Some((size + 7) & !7) }
}

/// Bytes of objects in `r`.
///
/// # Safety
/// As for [`accounting`].
#[inline]
pub(crate) unsafe fn live(r: *const Control) -> usize {
    // SAFETY: the caller's contract.
    unsafe { (*r).retired + ((*r).cursor as usize - (*r).first as usize) }
}

/// How `r` uses memory. Walks its chunks and those of what was spliced into it.
///
/// # Safety
/// `r` is a live region; the calling thread owns it or it is frozen.
pub unsafe fn accounting(r: *const Control) -> Accounting {
    // SAFETY: the caller's contract.
    unsafe {
        let live = live(r);
        let inline = Control::inline_start(r.cast_mut());
        let (mut chunks, mut chunk_bytes) = (0, 0);
        let mut block = r;
        while !block.is_null() {
            let mut c = (*block).oldest;
            while !c.is_null() {
                chunks += 1;
                chunk_bytes += (*c).limit as usize - c as usize;
                c = (*c).newer;
            }
            block = if block == r { (*r).merged } else { (*block).next };
        }
        Accounting {
            live,
            peak: live,
            chunks,
            chunk_bytes,
            inline_used: if (*r).first == inline {
                (*r).cursor as usize - inline as usize
            } else {
                (*r).inline_used.into()
            },
            repairs: (*r).repairs as usize,
        }
    }
}
