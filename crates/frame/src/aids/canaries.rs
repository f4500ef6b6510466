//! Canaries: bytes after each block that are checked when its frame ends (feature `canaries`).
//!
//! A record is at the end of each block's room, so the newest one ends at the frame's cursor, and
//! each stores the cursor before its block, where the previous one ends. The guard comes first: a
//! write past a block overwrites it before the record.
//!
//! ```text
//!  before          block      block + size                               cursor
//!  | (alignment)   | size     | 0xCA ...        | 16 x 0xCA | the rest   |
//!                                               | Record ..............  |
//! ```

use super::{Position, shadow};
use crate::located::Here;
use crate::tags;
use allod_frame_core::chunk::{self, Core};
use core::fmt;
use core::panic::Location;
use core::ptr::{self, NonNull};
use core::slice;

/// The guard byte.
const CANARY: u8 = 0xCA;
const GUARD: usize = 16;

/// The record after each block.
#[repr(C)]
#[derive(Clone, Copy)]
struct Record {
    guard: [u8; GUARD],
    known: Known,
}

/// The data about a block.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Known {
    /// The frame's cursor before the block.
    before: *mut u8,
    block: *mut u8,
    size: usize,
    location: &'static Location<'static>,
    /// The tag's row, and a checksum of the rest, so that an overwritten record is not trusted.
    tag: u32,
    sum: u32,
}

/// Bytes after each block.
pub(super) const EXTRA: usize = size_of::<Record>();

/// A damaged canary.
enum Overwritten {
    /// By its number, the byte behind the block, and what it holds.
    Guard(Known, usize, u8),
    /// The record itself was overwritten; where it was.
    Record(*const u8),
}

/// The result of a check.
pub(super) struct Checked {
    /// Where a record ends, if none does at the start.
    position: Option<Position>,
    overwritten: Option<Overwritten>,
}

impl Known {
    fn sum(&self) -> u32 {
        let words = [
            self.before.addr(),
            self.block.addr(),
            self.size,
            ptr::from_ref(self.location).addr(),
            self.tag as usize,
        ];
        let mix = |sum: usize, word: usize| {
            (sum ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31)
        };
        words.into_iter().fold(0xCACA, mix) as u32
    }

    /// The first byte behind the block that is no canary, and its distance from the block.
    ///
    /// # Safety
    /// The record is valid and ends at `end`.
    unsafe fn overwritten(&self, end: *const u8) -> Option<Overwritten> {
        // SAFETY: from the block's end to the guard's all is this record's.
        let guard = unsafe {
            shadow::looked_at(self.block.add(self.size), end.cast_mut());
            let start = self.block.add(self.size);
            slice::from_raw_parts(start, end.addr() - size_of::<Known>() - start.addr())
        };
        let at = guard.iter().position(|byte| *byte != CANARY)?;
        Some(Overwritten::Guard(*self, self.size + at, guard[at]))
    }
}

/// Writes a block's canary.
///
/// # Safety
/// The frame, of this core, has the room at the block, and its cursor was `before`.
#[inline]
pub(super) unsafe fn write(
    core: NonNull<Core>,
    before: *mut u8,
    block: *mut u8,
    size: usize,
    room: usize,
    here: Here,
) {
    // SAFETY: the caller's contract. The first block of all begins where frames do from now on.
    unsafe {
        let before = if before == chunk::empty() { core.as_ref().cursor } else { before };
        let tag = tags::current() as u32;
        put(Known { before, block, size, location: here.0, tag, sum: 0 }, block, size, room);
    }
}

/// Puts a canary after its block.
///
/// # Safety
/// The block has the room.
#[inline]
pub(super) unsafe fn put(known: Known, block: *mut u8, size: usize, room: usize) {
    let mut known = Known { size, ..known };
    known.sum = known.sum();
    // SAFETY: the caller's contract: behind the block there is room for guard and record.
    unsafe {
        block.add(size).write_bytes(CANARY, room - size - size_of::<Known>());
        block.add(room - size_of::<Known>()).cast::<Known>().write(known);
    }
}

/// What is known of the block that ends at a cursor.
///
/// # Safety
/// A record ends there, and it may be overwritten.
#[inline]
unsafe fn known(end: *mut u8) -> Result<Known, Overwritten> {
    let record = end.wrapping_sub(size_of::<Known>());
    // SAFETY: the caller's contract. The location is looked at only when the sum is right.
    unsafe {
        shadow::looked_at(record, end);
        let words = record.cast::<[usize; size_of::<Known>() / 8]>().read();
        let location = NonNull::new(ptr::without_provenance_mut::<u8>(words[3]));
        if location.is_none() || !words[3].is_multiple_of(align_of::<Location<'_>>()) {
            return Err(Overwritten::Record(record));
        }
        let known = record.cast::<Known>().read();
        if known.sum == known.sum() { Ok(known) } else { Err(Overwritten::Record(record)) }
    }
}

/// Removes the newest canary.
///
/// # Panics
/// When it was overwritten.
///
/// # Safety
/// The newest block ends at the cursor.
pub(super) unsafe fn take(cursor: *mut u8) -> Known {
    // SAFETY: the caller's contract; a valid record is looked at.
    unsafe {
        match known(cursor) {
            Ok(known) => {
                Checked { position: None, overwritten: known.overwritten(cursor) }.report();
                known
            }
            Err(overwritten) => overwritten.report(),
        }
    }
}

/// The cursor before the newest block; if that was in another chunk, the current cursor, so nothing
/// is given back.
///
/// # Safety
/// As for [`take`].
#[cfg(feature = "allocator-api2")]
pub(super) unsafe fn before(cursor: *mut u8, block: *mut u8) -> *mut u8 {
    // SAFETY: the caller's contract.
    let before = unsafe { take(cursor) }.before;
    if same_chunk(before, block) { before } else { cursor }
}

/// True when a cursor lies in the chunk of the block that comes next: between two chunks there are at
/// least 64 bytes, for the header.
#[cfg(feature = "allocator-api2")]
fn same_chunk(before: *const u8, block: *const u8) -> bool {
    block.addr().wrapping_sub(before.addr()) < 64
}

/// Checks the canaries between two positions, from the newest to the oldest.
///
/// # Safety
/// Both are positions of frames of `core`, the first not behind the second.
pub(super) unsafe fn check(core: NonNull<Core>, from: Position, to: Position) -> Checked {
    let mut end = to;
    let mut first = None;
    // SAFETY: the core is live.
    let oldest = unsafe { core.as_ref().cursor };
    // A frame that began when its arena had no chunk has its first block at the oldest cursor.
    while end.0 != from.0 && end.0 != oldest {
        // SAFETY: a record ends at every cursor but the first, and knows the one before.
        unsafe {
            let known = match known(end.0) {
                Ok(known) => known,
                Err(overwritten) => {
                    return Checked { position: None, overwritten: Some(overwritten) };
                }
            };
            first = known.overwritten(end.0).or(first);
            let before = (known.before, chunk::limit_of(core, known.before));
            if !chunk::not_behind(core, from, before) {
                // No record ends at the start: the block was resized since, and is kept whole, or the
                // start was undone, and lies in what was passed over for the block's sake.
                let within = from.1 == end.1 && known.block < from.0;
                let position = Some(if within { end } else { before });
                return Checked { position, overwritten: first };
            }
            end = before;
        }
    }
    Checked { position: None, overwritten: first }
}

impl Checked {
    /// From where on the frame's memory may be reused.
    pub(super) fn position(&self, start: Position) -> Position {
        self.position.unwrap_or(start)
    }

    /// Panics when a canary was overwritten.
    #[inline]
    pub(super) fn report(self) {
        if let Some(overwritten) = self.overwritten {
            if std::thread::panicking() {
                // A second panic would end the program without reporting this.
                std::eprintln!("{overwritten}");
            } else {
                overwritten.report();
            }
        }
    }
}

impl Overwritten {
    #[cold]
    fn report(self) -> ! {
        panic!("{self}")
    }
}

impl fmt::Display for Overwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Overwritten::Guard(known, at, byte) => {
                write!(
                    f,
                    "memory behind an allocation of a frame was overwritten: byte {at} of {} bytes \
                     allocated at {} is {byte:#04x}",
                    known.size, known.location
                )?;
                let tag = tags::name(known.tag as usize);
                if tag.is_empty() { Ok(()) } else { write!(f, "; tag `{tag}`") }
            }
            Overwritten::Record(at) => write!(
                f,
                "memory behind an allocation of a frame was overwritten, and with it what was known \
                 of the allocation: it ends before {at:p}"
            ),
        }
    }
}
