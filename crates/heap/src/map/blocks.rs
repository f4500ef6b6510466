//! The table of blocks, in the hardened build. For every address at which a block may start, 16 bits say
//! whether one does, whether it is in use, by which functions it was allocated and how large it is.
//!
//! ```text
//!   15          4 3    2 1     0
//!  ┌─────────────┬──────┬───────┐
//!  │ slack       │origin│ state │      one word for each 16 bytes of the window
//!  └─────────────┴──────┴───────┘
//! ```
//! The table is a mapping of its own, far from the blocks, at a random address.
//! A word is written by whoever owns its block: the thread that allocates or frees it. Words that do not say
//! [`State::Live`] are never trusted, so stale words do no harm.

use crate::base::layout::UNIT;
use crate::base::zeros::{self, clear};
use crate::map::bin::Bin;
use crate::map::span_map::MAP;
use allod_os::vm;
use core::ptr;
use core::sync::atomic::{AtomicU16, AtomicUsize, Ordering::Relaxed, Ordering::Release};

/// Bytes of blocks for each byte of the table.
const PER_BYTE: usize = 16 / size_of::<AtomicU16>();
/// Bytes of the table for each unit.
pub const BYTES_PER_UNIT: usize = UNIT / PER_BYTE;

/// Where the word for a block at address 0 would be.
static ORIGIN: AtomicUsize = AtomicUsize::new(0);

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum State {
    /// Not in use, or no block at all.
    None = 0,
    /// The program's.
    Live = 1,
    /// Freed, and not looked at since for what a stale pointer may have written.
    Held = 2,
}

/// The family of functions that allocated a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Origin {
    /// Not known, or a family that pairs with all others.
    Any = 0,
    /// `malloc` and its relatives.
    Malloc = 1,
    /// `operator new`.
    New = 2,
    /// `operator new[]`.
    NewArray = 3,
}

impl Origin {
    fn from_bits(bits: u16) -> Origin {
        match bits & 3 {
            1 => Origin::Malloc,
            2 => Origin::New,
            3 => Origin::NewArray,
            _ => Origin::Any,
        }
    }

    /// True when a block that came from `self` may be given back as one that came from `other`.
    #[inline]
    pub fn pairs_with(self, other: Origin) -> bool {
        self == other || self == Origin::Any || other == Origin::Any
    }
}

/// A word of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(u16);

impl Entry {
    /// The largest slack that a word can hold; a block with that much or more stores the rest itself.
    pub const MOST_SLACK: usize = 0xFFF;

    /// A live block with `slack` bytes after those that were asked for.
    #[inline]
    pub fn live(slack: usize) -> Entry {
        Entry((slack.min(Entry::MOST_SLACK) as u16) << 4 | State::Live as u16)
    }

    /// What the block is.
    #[inline]
    pub fn is(self, state: State) -> bool {
        self.0 & 3 == state as u16
    }

    /// Its slack.
    #[inline]
    pub fn slack(self) -> usize {
        self.0 as usize >> 4
    }

    /// Bytes asked for with a block of `room` bytes at `p`; `None` where that is not known any more, as of a freed block
    /// with a long slack.
    ///
    /// # Safety
    /// The block is of a slab, and this is what the table says of it.
    #[inline]
    pub unsafe fn asked(self, p: *const u8, room: usize) -> Option<usize> {
        let slack = self.slack();
        if slack < Entry::MOST_SLACK {
            return Some(room - slack.min(room));
        }
        // SAFETY: the caller's contract. A live block with a long slack says its size there; what an overflow has left
        // is no size.
        let size = || unsafe { size_word(p, room).read() }.min(room - Entry::MOST_SLACK);
        self.is(State::Live).then(size)
    }

    /// The functions that allocated it.
    #[inline]
    pub fn origin(self) -> Origin {
        Origin::from_bits(self.0 >> 2)
    }

    /// The same block in another state.
    #[inline]
    pub fn turned(self, state: State) -> Entry {
        Entry(self.0 & !3 | state as u16)
    }

    /// The same block with another origin.
    #[inline]
    pub fn asked_by(self, origin: Origin) -> Entry {
        Entry(self.0 & !0xC | (origin as u16) << 2)
    }
}

/// Where a block of `room` bytes with a long slack says its size.
#[inline]
pub fn size_word(block: *const u8, room: usize) -> *mut usize {
    block.wrapping_add(room - 16).cast::<usize>().cast_mut()
}

/// Tells where the table is. Once, by the span source, when the map has its place.
pub fn place(table: usize) {
    ORIGIN.store(table.wrapping_sub(MAP.base() / PER_BYTE), Relaxed);
}

/// The word for a block at `p`, which must be a multiple of 16 in a unit below the map's limit.
#[inline]
fn word(p: *const u8) -> *const AtomicU16 {
    ORIGIN.load(Relaxed).wrapping_add(p as usize / PER_BYTE) as *const AtomicU16
}

/// What the table says about a block at `p`; `None` for an address where no block can start.
#[inline]
pub fn look(p: *const u8) -> Option<Entry> {
    Some(look_with_bin(p)?.0)
}

/// The same, and the bin of its unit.
#[inline]
pub fn look_with_bin(p: *const u8) -> Option<(Entry, *mut Bin)> {
    let (base, unit) = MAP.base_and_unit(p);
    if unit >= MAP.limit() || p as usize & 15 != 0 {
        return None;
    }
    // SAFETY: the words of all units below the limit are committed.
    Some(unsafe { (Entry((*word(p)).load(Relaxed)), MAP.entry(base, unit)) })
}

/// What the table says about a block.
///
/// # Safety
/// The block is the caller's, to hand out or to take back.
#[inline]
pub unsafe fn at(p: *const u8) -> Entry {
    // SAFETY: blocks lie in units below the limit, whose words are committed.
    Entry(unsafe { (*word(p)).load(Relaxed) })
}

/// Changes what the table says about a block.
///
/// # Safety
/// The block is the caller's, to hand out or to take back.
#[inline]
pub unsafe fn set(p: *const u8, entry: Entry) {
    // SAFETY: blocks lie in units below the limit. Release: who reads that a block is live finds its canary.
    unsafe { (*word(p)).store(entry.0, Release) };
}

/// Has the blocks of a new slab that begin below `end`, where others were before, looked at from end to end before they are
/// handed out. Long ones are not: others of their kind are looked at when they leave quarantine.
///
/// # Safety
/// The slab is the caller's; its blocks, of `size` bytes each, begin at `start`.
pub unsafe fn doubt(start: usize, size: usize, end: usize) {
    if (zeros::BOTH_ENDS + 1..zeros::SPARSE).contains(&size) {
        for p in (start..end).step_by(size) {
            // SAFETY: the caller's contract.
            unsafe { set(p as *const u8, Entry::live(0).turned(State::Held)) };
        }
    }
}

/// Forgets all blocks in a range of whole units, and leaves nothing in them that could be read.
///
/// # Safety
/// The range is the caller's, and nothing in it is used any more.
pub unsafe fn forget(at: usize, len: usize) {
    // SAFETY: the caller's contract; the table has words for all of it.
    unsafe {
        ptr::write_bytes(word(at as *const u8).cast_mut().cast::<u8>(), 0, len / PER_BYTE);
        if !vm::purge(at, len) {
            clear(at as *mut u8, len);
        }
    }
}
