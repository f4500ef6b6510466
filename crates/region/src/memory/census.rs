//! How much of which type is alive in regions: a count for heap profiles, made when one is written.
//!
//! ```text
//!  span map ──▶ span of control blocks ──▶ objects in the inline buffer, and in the chunk that the cursor is in
//!          └──▶ chunks that the cursor has left ──▶ objects from the first on, each behind the one before
//! ```
//! Regions take no lock when they change, and their threads go on meanwhile. So the census reads no memory of theirs
//! itself: the system makes copies for it, of what is there to be read, as it does for a debugger. What the copies say is
//! not trusted: a length must be that of a registered type and end within the objects' memory, and whatever is followed
//! leads into a region's span. So a region in the middle of a change may be counted wrongly, and nothing worse happens.
//!
//! Two words that may be values are a pair: no header looks like one. Objects are counted up to the first word that is
//! neither, or the header of a type whose length only the object tells; empty words in front of a header, or of another
//! empty word, are passed over. What follows is not told apart: plain memory, and what padding before an aligned object
//! has left of earlier use. Plain memory that happens to look like values counts as pairs.

use crate::data::ids::{MOST, PAIR};
use crate::data::types;
use crate::data::value::{Header, Raw, TAG_PAIR, is_header, may_be_value};
use crate::memory::control::{BLOCK_BYTES, Chunk, Control, HEAD, INLINE_BYTES};
use crate::memory::slots::{self, DIRECTORY};
use allod_heap::layout::UNIT;
use allod_heap::sampling::{Amount, Part, Room};
use allod_heap::span::{self, Kind};
use allod_os::file::File;
use core::mem::offset_of;

/// Heap profiles have what regions hold by type, too.
pub(crate) static PART: Part = Part { layer: "region", each: each_amount };

fn each_amount(f: &mut dyn FnMut(Amount)) {
    let (census, near, far) = (Census::new(), Copies::new(), Copies::new());
    let (Some(mut census), Some(mut near), Some(mut far)) = (census, near, far) else { return };
    span::each(Kind::Region, &mut |start, directory| {
        census.span(&mut near, &mut far, start as usize, directory as usize);
    });
    let counted = census.0.iter().enumerate().filter(|(_, count)| count.objects > 0);
    for (id, count) in counted {
        let Some(t) = types::registered(id as u32) else { continue };
        let live = (count.objects, count.bytes);
        f(Amount { key: "region_type", name: t.name(), total: (0, 0), live });
    }
}

/// Objects of one type, and their bytes. Zero bytes are none.
#[derive(Clone, Copy)]
struct Count {
    objects: u64,
    bytes: u64,
}

/// The counts by type.
struct Census(Room<Count>);

impl Census {
    /// `None` when memory is out.
    fn new() -> Option<Census> {
        // SAFETY: zero bytes are counts.
        unsafe { Room::zeroed(MOST as usize) }.map(Census)
    }

    /// Counts what lies in a span. `near` is for spans cut into slots, `far` for all else.
    fn span(
        &mut self,
        near: &mut Copies,
        far: &mut Copies,
        start: usize,
        directory: usize,
    ) -> Option<()> {
        let end = start + UNIT;
        if directory == start + offset_of!(Chunk, dir) {
            let has_region = far.word(start + offset_of!(Chunk, dir.owner), end)? != 0;
            return has_region.then(|| self.chunk(far, start, end))?;
        }
        let mut words = [0; DIRECTORY];
        for (i, word) in words.iter_mut().enumerate() {
            *word = far.word(directory + 8 * i, directory + 8 * DIRECTORY)?;
        }
        for (offset, len) in slots::taken(&words) {
            match len {
                BLOCK_BYTES => self.block(near, far, start + offset, end),
                _ => self.chunk(near, start + offset, end),
            };
        }
        Some(())
    }

    /// Counts the objects in the inline buffer of a control block, and those in the chunk that its cursor is in.
    fn block(&mut self, near: &mut Copies, far: &mut Copies, at: usize, end: usize) -> Option<()> {
        let inline = at + offset_of!(Control, inline);
        let cursor = near.word(at + offset_of!(Control, cursor), end)?;
        let limit = near.word(at + offset_of!(Control, limit), end)?;
        let first = near.word(at + offset_of!(Control, first), end)?;
        if first == inline {
            self.objects(near, inline, cursor.min(inline + INLINE_BYTES));
            return Some(());
        }
        let used = near.bytes(at + offset_of!(Control, inline_used), end)?;
        let used = usize::from(u16::from_ne_bytes(used)).min(INLINE_BYTES);
        self.objects(near, inline, inline + used);
        let is_in_a_region = !span::owner(first as *const u8, Kind::Region).is_null();
        if is_in_a_region && cursor <= limit {
            self.objects(far, first, cursor);
        }
        Some(())
    }

    /// Counts the objects of a chunk that the cursor has left, or was never in.
    fn chunk(&mut self, copies: &mut Copies, at: usize, end: usize) -> Option<()> {
        let limit = copies.word(at + offset_of!(Chunk, limit), end)?;
        let top = copies.word(at + offset_of!(Chunk, top), end)?;
        let [is_own] = copies.bytes(at + offset_of!(Chunk, own), end)?;
        let first = at + HEAD;
        if top > limit {
            return None;
        }
        // One block fills it: objects, if they do.
        let is_plain = is_own != 0 && !begins_with_objects(copies, first, top);
        if !is_plain && (is_own == 0 || each_object(copies, first, top, |_, _| {})) {
            self.objects(copies, first, top);
        }
        Some(())
    }

    /// Counts objects.
    fn objects(&mut self, copies: &mut Copies, at: usize, end: usize) {
        each_object(copies, at, end, |id, bytes| {
            let count = &mut self.0[id as usize];
            count.objects += 1;
            count.bytes += bytes as u64;
        });
    }
}

/// Whether a block that fills a chunk is an object, or pairs that were made at once: then the first leads to the second.
/// Plain memory may look like pairs of immediates.
fn begins_with_objects(copies: &mut Copies, at: usize, end: usize) -> bool {
    let words = [at, at + 8].map(|at| copies.word(at, end).unwrap_or(0) as u64);
    is_header(words[0]) || words.contains(&((at as u64 + 16) | TAG_PAIR))
}

/// Calls `f` with the type and the length of objects that lie one behind the other, as far as they do. True if that is up to
/// the end.
fn each_object(
    copies: &mut Copies,
    mut at: usize,
    end: usize,
    mut f: impl FnMut(u32, usize),
) -> bool {
    while let Some(word) = copies.word(at, end) {
        let header = Header(word as u64);
        let found = match is_header(header.0) {
            true => types::bytes_at(at, header).map(|bytes| (header.type_id(), bytes)),
            false => pair_at(copies, at, end, header.0),
        };
        let Some((id, bytes)) = found.filter(|(_, bytes)| *bytes <= end - at) else { return false };
        // Type 0 is that of words without an object.
        if id != 0 {
            f(id, bytes);
        }
        at += bytes;
    }
    at >= end
}

/// The pair at an address, whose first word is known, or empty words of type 0.
fn pair_at(copies: &mut Copies, at: usize, end: usize, first: u64) -> Option<(u32, usize)> {
    let second = copies.word(at + 8, end).map(|word| word as u64);
    match (first, second) {
        (0, None) => Some((0, 8)),
        (0, Some(0)) => Some((0, 16)),
        (0, Some(second)) if is_header(second) => Some((0, 8)),
        (_, Some(second)) if is_plausible(first) && is_plausible(second) => Some((PAIR, 16)),
        _ => None,
    }
}

/// True for a word that a slot may hold: pointers lead to where programs have memory, other words have a known tag.
fn is_plausible(word: u64) -> bool {
    const ADDRESSES: u64 = 1 << 47;
    may_be_value(word) && (Raw(word).pointer().is_none() || (4096..ADDRESSES).contains(&word))
}

/// Bytes copied at a time.
const AHEAD: usize = 64 * 1024;

/// Copies of this process's memory, made by the system: where nothing can be read there is none.
struct Copies {
    memory: File,
    /// Where the copy is from, and what is there of it.
    start: usize,
    len: usize,
    copy: Room<u8>,
}

impl Copies {
    /// `None` where the system makes none, or memory is out.
    fn new() -> Option<Copies> {
        let memory = File::read_from(c"/proc/thread-self/mem").ok()?;
        // SAFETY: zero bytes are bytes.
        let copy = unsafe { Room::zeroed(AHEAD)? };
        Some(Copies { memory, start: 0, len: 0, copy })
    }

    /// The bytes at an address, of a stretch of memory that ends at `end` and is read in this order.
    fn bytes<const N: usize>(&mut self, address: usize, end: usize) -> Option<[u8; N]> {
        if end.checked_sub(address)? < N {
            return None;
        }
        let held = |copies: &Copies| {
            let at = address.checked_sub(copies.start)?;
            copies.copy[..copies.len].get(at..)?.first_chunk().copied()
        };
        held(self).or_else(|| {
            let most = AHEAD.min(end - address);
            self.start = address;
            self.len = self.memory.read_at(address, &mut self.copy[..most]).unwrap_or(0);
            held(self)
        })
    }

    fn word(&mut self, address: usize, end: usize) -> Option<usize> {
        self.bytes(address, end).map(usize::from_ne_bytes)
    }
}
