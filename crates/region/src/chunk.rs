//! Chunks: where a region's objects go when the inline buffer is full.
//!
//! A region's chunks form a list, oldest to newest. The newest is the one the cursor is in, unless the
//! cursor is still in the inline buffer. A block too large for the next chunk gets a chunk of its own
//! (`own`), entered *before* the newest, so that the cursor's chunk stays last.

use crate::check::{CHECKED, wrong};
use crate::control::Control;
use crate::pool;
use crate::slots::{self, OneSlot, SlotKind};
use allod_heap::layout::UNIT;
use allod_heap::span::{self, Kind};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// The head of a chunk; objects follow.
#[repr(C)]
#[derive(Debug)]
pub struct Chunk {
    pub(crate) older: *mut Chunk,
    pub(crate) newer: *mut Chunk,
    /// Past the last byte.
    pub(crate) limit: *mut u8,
    /// Past the last object, once the cursor has left the chunk.
    pub(crate) top: *mut u8,
    /// The word that names the region in the span's directory.
    pub(crate) owner: *const AtomicPtr<Control>,
    pub(crate) size: ChunkSize,
    /// Holds one block that was too large for the others.
    pub(crate) own: bool,
    /// The directory, if the chunk has a span of its own.
    pub(crate) dir: OneSlot,
}

/// How large a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkSize {
    K4,
    K16,
    /// A span of its own.
    Span(usize),
}

/// Bytes of a chunk's head.
pub(crate) const HEAD: usize = size_of::<Chunk>();
/// Blocks up to this go where the cursor goes; larger ones may get chunks of their own.
pub(crate) const SMALL: usize = 8 * 1024;
/// Chunks grow up to this. Chosen by `allod bench region --only large-objects`.
const LARGEST: usize = 64 << 20;

impl Chunk {
    /// First byte for objects.
    #[inline(always)]
    pub(crate) fn first(c: *mut Chunk) -> *mut u8 {
        c.wrapping_add(1).cast()
    }
}

impl ChunkSize {
    fn bytes(self) -> usize {
        match self {
            ChunkSize::K4 => 4096,
            ChunkSize::K16 => 16384,
            ChunkSize::Span(bytes) => bytes,
        }
    }

    fn grown(self) -> ChunkSize {
        match self {
            ChunkSize::K4 => ChunkSize::K16,
            ChunkSize::K16 => ChunkSize::Span(UNIT),
            ChunkSize::Span(bytes) => ChunkSize::Span((2 * bytes).min(LARGEST)),
        }
    }

    /// Which of the thread's caches keeps chunks of the size.
    fn cache(self) -> Option<usize> {
        match self {
            ChunkSize::K4 => Some(0),
            ChunkSize::K16 => Some(1),
            ChunkSize::Span(UNIT) => Some(2),
            ChunkSize::Span(_) => None,
        }
    }

    /// The slot kind, for chunks that are slots.
    pub(crate) fn slot(self) -> Option<SlotKind> {
        match self {
            ChunkSize::K4 => Some(SlotKind::Chunk4K),
            ChunkSize::K16 => Some(SlotKind::Chunk16K),
            ChunkSize::Span(_) => None,
        }
    }
}

/// A chunk from the thread's cache, or a new one; null when memory is out.
fn obtain(size: ChunkSize, r: *mut Control) -> *mut Chunk {
    let mut c = size.cache().map_or(ptr::null_mut(), pool::cached_chunk);
    if c.is_null() {
        c = take(size);
        if c.is_null() {
            return c;
        }
    }
    // SAFETY: the chunk is the caller's.
    unsafe {
        (*c).size = size;
        (*c).own = false;
        (*c).top = Chunk::first(c);
        (*(*c).owner).store(r, Relaxed);
    }
    c
}

/// Memory for a chunk, from a shared span or a span of its own, with `owner` and `limit` set.
#[cold]
fn take(size: ChunkSize) -> *mut Chunk {
    // SAFETY: new memory of at least `HEAD` bytes is written before use.
    unsafe {
        if let Some(kind) = size.slot() {
            let Some(slot) = slots::take(kind) else { return ptr::null_mut() };
            let c: *mut Chunk = slot.memory.cast();
            (*c).owner = slot.owner;
            (*c).limit = slot.memory.add(size.bytes());
            return c;
        }
        let Some(s) = span::alloc(size.bytes(), UNIT, Kind::Region, ptr::null_mut()) else {
            return ptr::null_mut();
        };
        let c: *mut Chunk = s.start.cast();
        // Whole, and without a region, before the map leads there.
        (&raw mut (*c).dir).write(OneSlot { mul: 0, owner: AtomicPtr::new(ptr::null_mut()) });
        (*c).owner = &raw const (*c).dir.owner;
        (*c).limit = s.start.add(s.len);
        span::set_owner(s.start, (&raw mut (*c).dir).cast());
        c
    }
}

/// Keeps a chunk's memory for the thread's next regions, or gives it back.
///
/// # Safety
/// Nothing in the chunk is used any more.
pub(crate) unsafe fn dispose(c: *mut Chunk) {
    // SAFETY: the caller's contract.
    unsafe {
        (*(*c).owner).store(ptr::null_mut(), Relaxed);
        if !(*c).size.cache().is_some_and(|cache| pool::cache_chunk(c, cache)) {
            give_back(c);
        }
    }
}

/// Gives a chunk's memory back.
///
/// # Safety
/// As for [`dispose`].
pub(crate) unsafe fn give_back(c: *mut Chunk) {
    // SAFETY: the caller's contract.
    unsafe {
        match (*c).size.slot() {
            Some(kind) => slots::give(c.cast(), kind),
            None => span::free(c.cast()),
        }
    }
}

/// [`bump`](crate::control::bump) when the block does not fit.
///
/// # Safety
/// As for `bump`.
#[cold]
#[inline(never)]
pub unsafe fn bump_slow(r: *mut Control, size: usize) -> *mut u8 {
    // SAFETY: the caller's contract.
    unsafe { bump_aligned_slow(r, size, 8) }
}

/// [`bump_aligned`](crate::control::bump_aligned) when the block does not fit.
///
/// # Safety
/// As for `bump_aligned`; `size` is a multiple of 8 and `align` at least 8.
#[cold]
#[inline(never)]
pub unsafe fn bump_aligned_slow(r: *mut Control, size: usize, align: usize) -> *mut u8 {
    if align > UNIT || size > isize::MAX as usize - align - HEAD {
        return ptr::null_mut();
    }
    // SAFETY: the caller's contract.
    unsafe {
        // A region that has been left grows on while a reference or a tether holds it: stores into its
        // objects may need copies there.
        if CHECKED && !(*r).counts.is_held() {
            wrong(format_args!("allocation in region {r:p}, which is not open any more"));
        }
        if (*r).frozen {
            wrong(format_args!("allocation in a frozen region"));
            return ptr::null_mut();
        }
        let need = size + HEAD + (align - 8).min(UNIT);
        let mut next = next_size(r);
        if size > SMALL && need > next.bytes() / 4 {
            return own_chunk(r, size, align, need);
        }
        while next.bytes() < need {
            next = next.grown();
        }
        if !new_chunk(r, next) {
            return ptr::null_mut();
        }
        let p = (*r).cursor;
        let pad = (p as usize).wrapping_neg() & (align - 1);
        (*r).cursor = p.add(pad + size);
        p.add(pad)
    }
}

/// How large the next chunk is to be: a step larger than the newest.
unsafe fn next_size(r: *mut Control) -> ChunkSize {
    // SAFETY: the caller's region is live.
    unsafe {
        if (*r).first == Control::inline_start(r) {
            return ChunkSize::K4;
        }
        (*(*r).newest).size.grown()
    }
}

/// A new newest chunk with the cursor in it. False when memory is out.
unsafe fn new_chunk(r: *mut Control, size: ChunkSize) -> bool {
    let c = obtain(size, r);
    if c.is_null() {
        return false;
    }
    // SAFETY: the region and the chunk are the caller's.
    unsafe {
        retire(r);
        enter_newest(r, c);
        (*r).first = Chunk::first(c);
        (*r).cursor = Chunk::first(c);
        (*r).limit = (*c).limit;
    }
    true
}

/// Counts what is in use where the cursor is and notes where it ends.
///
/// # Safety
/// The region is the caller's; the cursor is moved elsewhere next.
pub(crate) unsafe fn retire(r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe {
        let used = (*r).cursor as usize - (*r).first as usize;
        (*r).retired += used;
        if (*r).first == Control::inline_start(r) {
            (*r).inline_used = used as u16;
        } else {
            (*(*r).newest).top = (*r).cursor;
        }
    }
}

unsafe fn enter_newest(r: *mut Control, c: *mut Chunk) {
    // SAFETY: the caller's region and chunk; the list's links are valid.
    unsafe {
        (*c).older = (*r).newest;
        (*c).newer = ptr::null_mut();
        if (*r).newest.is_null() {
            (*r).oldest = c;
        } else {
            (*(*r).newest).newer = c;
        }
        (*r).newest = c;
        (*r).counts.set_extra();
    }
}

/// A chunk for one block; the cursor stays where it is.
unsafe fn own_chunk(r: *mut Control, size: usize, align: usize, need: usize) -> *mut u8 {
    let c = obtain(ChunkSize::Span(need), r);
    if c.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: the region and the chunk are the caller's; `need` has room for head, padding and block.
    unsafe {
        let first = Chunk::first(c);
        let pad = (first as usize).wrapping_neg() & (align - 1);
        (*c).own = true;
        (*c).top = first.add(pad + size);
        (*r).retired += pad + size;
        enter_oldest(r, c);
        first.add(pad)
    }
}

/// Own chunks stand at the old end, so that the cursor's chunk stays the newest.
unsafe fn enter_oldest(r: *mut Control, c: *mut Chunk) {
    // SAFETY: the caller's region and chunk; the list's links are valid.
    unsafe {
        (*c).older = ptr::null_mut();
        (*c).newer = (*r).oldest;
        if (*r).oldest.is_null() {
            (*r).newest = c;
        } else {
            (*(*r).oldest).older = c;
        }
        (*r).oldest = c;
        (*r).counts.set_extra();
    }
}

/// Makes `size` bytes fit where the cursor is, so that they follow one another. False when memory is
/// out or `size` is not below `PTRDIFF_MAX`.
///
/// # Safety
/// As for `bump`.
pub unsafe fn reserve(r: *mut Control, size: usize) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        if size <= (*r).limit as usize - (*r).cursor as usize {
            return true;
        }
        if size > isize::MAX as usize - HEAD - UNIT || (*r).frozen {
            return false;
        }
        let mut next = next_size(r);
        while next.bytes() < size + HEAD && next.bytes() < LARGEST {
            next = next.grown();
        }
        if next.bytes() < size + HEAD {
            next = ChunkSize::Span(size + HEAD);
        }
        new_chunk(r, next)
    }
}

/// Where a region stands: all that allocation changes.
pub(crate) struct Mark {
    cursor: *mut u8,
    limit: *mut u8,
    first: *mut u8,
    newest: *mut Chunk,
    oldest: *mut Chunk,
    retired: usize,
    inline_used: u16,
}

impl Mark {
    /// # Safety
    /// The region is alive and the caller's.
    pub(crate) unsafe fn of(r: *const Control) -> Mark {
        // SAFETY: the caller's contract.
        unsafe {
            Mark {
                cursor: (*r).cursor,
                limit: (*r).limit,
                first: (*r).first,
                newest: (*r).newest,
                oldest: (*r).oldest,
                retired: (*r).retired,
                inline_used: (*r).inline_used,
            }
        }
    }

    /// Bytes taken since.
    ///
    /// # Safety
    /// As for [`Mark::of`].
    pub(crate) unsafe fn taken(&self, r: *const Control) -> usize {
        // SAFETY: the caller's contract.
        unsafe {
            let now = (*r).retired + ((*r).cursor as usize - (*r).first as usize);
            now - self.retired - (self.cursor as usize - self.first as usize)
        }
    }

    /// Gives back everything allocated since; chunks that came since are disposed of.
    ///
    /// # Safety
    /// As for [`Mark::of`]; nothing allocated since is used, and since then the region has only
    /// allocated.
    pub(crate) unsafe fn back(&self, r: *mut Control) {
        // SAFETY: the caller's contract. Newer chunks stand at both ends, as `enter_newest` and
        // `enter_oldest` put them.
        unsafe {
            while (*r).newest != self.newest {
                let c = (*r).newest;
                (*r).newest = (*c).older;
                dispose(c);
            }
            while !self.newest.is_null() && (*r).oldest != self.oldest {
                let c = (*r).oldest;
                (*r).oldest = (*c).newer;
                dispose(c);
            }
            (*r).oldest = self.oldest;
            if !self.newest.is_null() {
                (*self.newest).newer = ptr::null_mut();
                (*self.oldest).older = ptr::null_mut();
            }
            (*r).cursor = self.cursor;
            (*r).limit = self.limit;
            (*r).first = self.first;
            (*r).retired = self.retired;
            (*r).inline_used = self.inline_used;
        }
    }
}
