//! Chunks: spans of the heap, linked in the order in which frames fill them, and kept.
//!
//! A chunk's header is its last 64 bytes, and a frame's limit is the header's address. Chunks grow
//! geometrically (each twice the one before, up to 64 MiB), so a frame of `n` bytes takes the slow
//! path about log2(n) times, and involves the system only while the arena is growing beyond its
//! previous maximum.

use crate::shadow;
use allod_heap::span::{self, Kind};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU64, Ordering};

/// Bytes of the first chunk: one span unit.
const FIRST: usize = 64 << 10;
/// Chunks stop doubling here; larger ones are made only for larger requests.
const LARGEST: usize = 64 << 20;

/// Every chunk, and with it every frame of an arena, starts at a multiple of this.
pub const CHUNK_ALIGN: usize = 64;

/// The header at the end of each chunk.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Chunk {
    next: *mut Chunk,
    start: *mut u8,
    bytes: usize,
    /// The chunk is memory of the arena's owner, not a span; only possible for an arena's first
    /// chunk.
    lent: bool,
}

// SAFETY: the only shared chunk is `EMPTY`, which is never written.
unsafe impl Sync for Chunk {}

/// The limit of an arena without chunks: nothing fits below it.
static EMPTY: Chunk =
    Chunk { next: ptr::null_mut(), start: ptr::null_mut(), bytes: 0, lent: false };

/// The cursor and limit of an arena without chunks.
#[inline]
pub fn empty() -> *mut u8 {
    (&raw const EMPTY).cast_mut().cast()
}

/// An arena's state between frames. `cursor` and `limit` come first: C code reads them.
#[derive(Debug)]
#[repr(C)]
pub struct Core {
    /// Where a new frame starts.
    pub cursor: *mut u8,
    /// The limit of a new frame.
    pub limit: *mut u8,
    /// The arena for frames begun on the same thread while this one's frame is open.
    pub inner: *mut Core,
    first: *mut Chunk,
    last: *mut Chunk,
    /// Bytes of all chunks.
    pub reserved: usize,
    /// Frames begun.
    pub frames: u64,
    /// Drops registered.
    pub drops: u64,
    /// Unique among all arenas, including earlier ones at this address.
    pub number: u64,
}

/// The result of the slow path: a block, and the frame's new cursor and limit.
#[derive(Clone, Copy, Debug)]
pub struct Grown {
    /// The new block.
    pub block: NonNull<u8>,
    /// The cursor after it.
    pub cursor: *mut u8,
    /// The limit of its chunk.
    pub limit: *mut u8,
}

impl Core {
    /// An arena without chunks, in a block of the heap; `None` when memory is out. Takes no span.
    pub fn create() -> Option<NonNull<Core>> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let core = NonNull::new(allod_heap::malloc(size_of::<Core>()).cast::<Core>())?;
        // SAFETY: the block is new, large enough and aligned to 16.
        unsafe {
            core.write(Core {
                cursor: empty(),
                limit: empty(),
                inner: ptr::null_mut(),
                first: ptr::null_mut(),
                last: ptr::null_mut(),
                reserved: 0,
                frames: 0,
                drops: 0,
                number: LAST.fetch_add(1, Ordering::Relaxed),
            });
        }
        Some(core)
    }

    /// Gives everything back.
    ///
    /// # Safety
    /// `core` came from [`Core::create`], is given back once, and nothing in its chunks is used.
    pub unsafe fn destroy(core: NonNull<Core>) {
        // SAFETY: the caller's contract.
        unsafe {
            Core::trim(core);
            allod_heap::free(core.as_ptr().cast());
        }
    }

    /// Gives all chunks back, except a lent one.
    ///
    /// # Safety
    /// No frame of the arena is open, and nothing in its chunks is used.
    pub unsafe fn trim(core: NonNull<Core>) {
        // SAFETY: the caller's contract; headers of kept chunks are valid until their span is freed.
        unsafe {
            let core = core.as_ptr();
            let mut chunk = (*core).first;
            (*core).first = ptr::null_mut();
            (*core).last = ptr::null_mut();
            (*core).reserved = 0;
            (*core).cursor = empty();
            (*core).limit = empty();
            while !chunk.is_null() {
                let Chunk { next, start, bytes, lent } = chunk.read();
                shadow::uncover(start, bytes);
                if lent {
                    Core::lend(NonNull::new_unchecked(core), start, bytes);
                } else {
                    span::free(start);
                }
                chunk = next;
            }
        }
    }

    /// Makes the caller's memory the first chunk.
    ///
    /// # Safety
    /// The arena has no chunks. The memory is aligned to [`CHUNK_ALIGN`], its size is a multiple of
    /// that and more than a header's, and it belongs to the arena alone until that is destroyed.
    pub unsafe fn lend(core: NonNull<Core>, start: *mut u8, bytes: usize) {
        // SAFETY: the caller's contract; the last 64 bytes are the header.
        unsafe {
            let core = core.as_ptr();
            let header = start.add(bytes - size_of::<Chunk>()).cast::<Chunk>();
            header.write(Chunk { next: ptr::null_mut(), start, bytes, lent: true });
            (*core).first = header;
            (*core).last = header;
            (*core).cursor = start;
            (*core).limit = header.cast();
        }
    }

    /// Appends a chunk with room for `room` bytes.
    ///
    /// # Safety
    /// `core` is a live arena that no other thread uses now.
    #[cold]
    pub unsafe fn append(core: NonNull<Core>, room: usize) -> Option<*mut Chunk> {
        let owner = core.as_ptr();
        // SAFETY: the caller's contract; a new span is ours, and its last 64 bytes are the header.
        unsafe {
            let last = (*owner).last;
            let double = if last.is_null() { FIRST } else { ((*last).bytes * 2).min(LARGEST) };
            let need = room.checked_add(size_of::<Chunk>())?;
            let new = span::alloc(need.max(double), 1, Kind::Frame, owner.cast())
                .or_else(|| span::alloc(need, 1, Kind::Frame, owner.cast()))?;
            let header = new.start.add(new.len - size_of::<Chunk>()).cast::<Chunk>();
            header.write(Chunk {
                next: ptr::null_mut(),
                start: new.start,
                bytes: new.len,
                lent: false,
            });
            if last.is_null() {
                (*owner).first = header;
                (*owner).cursor = new.start;
                (*owner).limit = header.cast();
            } else {
                (*last).next = header;
            }
            (*owner).last = header;
            (*owner).reserved += new.len;
            Some(header)
        }
    }

    /// The chunk after the one that ends at `limit`; null when there is none.
    ///
    /// # Safety
    /// `limit` is [`empty`] or the limit of a chunk of this arena.
    pub unsafe fn after(core: NonNull<Core>, limit: *mut u8) -> *mut Chunk {
        // SAFETY: the caller's contract: a limit is the address of a header.
        unsafe {
            if limit == empty() { (*core.as_ptr()).first } else { (*limit.cast::<Chunk>()).next }
        }
    }
}

/// The slow path: a block from the next kept chunk with room for it, or from a new one. Kept chunks
/// that are too small are passed over until the next frame.
///
/// Takes and returns words, not the frame, so that a frame's cursor can stay in a register.
///
/// # Safety
/// `core` is a live arena used by this thread alone, `limit` the limit of one of its frames, `align`
/// a power of two.
#[cold]
#[inline(never)]
pub unsafe fn grow(
    core: NonNull<Core>,
    limit: *mut u8,
    size: usize,
    align: usize,
) -> Option<Grown> {
    // SAFETY: the caller's contract.
    let mut chunk = unsafe { Core::after(core, limit) };
    loop {
        if chunk.is_null() {
            let room = size.checked_add(align - 1).filter(|&n| n <= isize::MAX as usize)?;
            // SAFETY: the caller's contract.
            chunk = unsafe { Core::append(core, room)? };
        }
        // SAFETY: a chunk of this arena: its header is valid, and `start..header` is its memory.
        unsafe {
            let start = (*chunk).start;
            let room = chunk.addr() - start.addr();
            let padding = start.addr().wrapping_neg() & (align - 1);
            if padding <= room && size <= room - padding {
                let block = start.add(padding);
                return Some(Grown {
                    block: NonNull::new_unchecked(block),
                    cursor: block.add(size),
                    limit: chunk.cast(),
                });
            }
            chunk = (*chunk).next;
        }
    }
}

/// Bytes between two positions of one arena, counting skipped ends of chunks as used.
///
/// # Safety
/// Both positions are of frames of `core`, the first not after the second.
pub unsafe fn distance(
    core: NonNull<Core>,
    from: (*mut u8, *mut u8),
    to: (*mut u8, *mut u8),
) -> usize {
    let (cursor, mut limit) = from;
    if limit == to.1 {
        return to.0.addr() - cursor.addr();
    }
    let mut bytes = limit.addr() - cursor.addr();
    loop {
        // SAFETY: the caller's contract: `to` lies in a later chunk, so there is a next one.
        unsafe {
            let chunk = Core::after(core, limit);
            if chunk.cast() == to.1 {
                return bytes + (to.0.addr() - (*chunk).start.addr());
            }
            bytes += chunk.addr() - (*chunk).start.addr();
            limit = chunk.cast();
        }
    }
}

/// First byte of a chunk's memory.
///
/// # Safety
/// `chunk` is a chunk of a live arena.
#[must_use]
pub unsafe fn start_of(chunk: *mut Chunk) -> *mut u8 {
    // SAFETY: the caller's contract.
    unsafe { (*chunk).start }
}

/// True when `a` does not lie after `b`.
///
/// # Safety
/// Both are positions of frames of `core`.
#[must_use]
pub unsafe fn not_behind(
    core: NonNull<Core>,
    a: (*mut u8, *mut u8),
    b: (*mut u8, *mut u8),
) -> bool {
    let mut limit = a.1;
    if limit == b.1 {
        return a.0 <= b.0;
    }
    loop {
        // SAFETY: a limit of this arena.
        let chunk = unsafe { Core::after(core, limit) };
        if chunk.is_null() {
            return false;
        }
        limit = chunk.cast();
        if limit == b.1 {
            return true;
        }
    }
}

/// The limit of the chunk that a cursor is in.
///
/// # Safety
/// The cursor is one that a frame of `core` had, and the arena had a chunk then.
#[must_use]
pub unsafe fn limit_of(core: NonNull<Core>, cursor: *mut u8) -> *mut u8 {
    let mut limit = empty();
    loop {
        // SAFETY: the caller's contract: one of the chunks has the cursor, so there is a next one.
        unsafe {
            let chunk = Core::after(core, limit);
            limit = chunk.cast();
            if start_of(chunk) <= cursor && cursor <= limit {
                return limit;
            }
        }
    }
}
