//! Scopes: what was made since a mark is dropped.
//!
//! ```text
//!  chunk in which the mark lies          taken since             newest
//!  │ older objects │mark   dropped │ ──▶ │ given back │ ──▶ … ──▶ │cursor            │
//! ```
//! When the region has taken chunks since the mark, the cursor stays in the newest one, at its beginning, and those
//! between are given back: so a loop whose turns take more than a chunk's rest does not take and give back
//! that chunk in each turn. What the mark's own chunk held behind it goes when the region is next moved.

use crate::shared::{State, state};
use allod_region::chunk::drop_chunk;
use allod_region::control::accounting;

/// A chunk that the region took since it was moved last.
#[derive(Clone, Copy)]
struct Taken {
    /// The serial number from then on.
    serial: u64,
    /// Its first byte.
    first: *mut u8,
    bytes: usize,
    /// It holds one large object, and the cursor never was in it.
    alone: bool,
}

/// What the library knows of scopes.
pub struct Scopes {
    /// The oldest first.
    taken: Vec<Taken>,
    /// Bytes that scopes dropped, where releases are looked at.
    dropped: usize,
    /// In checked programs: what chance decides by.
    chance: u64,
}

/// What memory is filled with that was dropped in a checked program: no address that can be read.
const POISON: u64 = 0xDEAD_DEAD_DEAD_DEA8;

impl Scopes {
    pub const NONE: Scopes = Scopes { taken: Vec::new(), dropped: 0, chance: 1 };

    /// Bytes that scopes dropped.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// The region has taken a chunk, of which an object is the first.
    pub fn grew(&mut self, first: *mut u8, alone: bool, bytes: usize) {
        state().changed();
        self.taken.push(Taken { serial: state().serial(), first, bytes, alone });
    }

    /// Everything has been moved.
    pub fn moved(&mut self) {
        self.taken.clear();
        state().keep();
    }

    /// Whether a safe point moves nothing this time. Checked programs, which otherwise move at every safe point, would
    /// never drop anything: where a scope is open, most of their safe points pass.
    pub fn spare(&mut self) -> bool {
        if !state().has_open_scope() {
            return false;
        }
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.chance >> 62 != 0
    }

    /// Ends the scope of a mark; gives the bytes of the chunks that went.
    pub fn release(&mut self, cursor: *mut u8, serial: u64) -> usize {
        let s = state();
        if !s.is_open(serial) {
            return 0;
        }
        s.open = s.open.saturating_sub(1);
        let r = s.region;
        let since = self.taken.partition_point(|chunk| chunk.serial <= serial);
        let moves_on = self.taken[since..].iter().any(|chunk| !chunk.alone);
        let marked = self.taken[..since].iter().rposition(|chunk| !chunk.alone);
        // A chunk that held nothing when the mark was made goes with the others.
        let empty = marked.filter(|i| moves_on && self.taken[*i].first == cursor);
        let mut freed = 0;
        // SAFETY: the region is open. The compiler has proven that nothing made since the mark is used any more. The
        // cursor is in the newest chunk of those that are not alone, which stays.
        unsafe {
            let before = s.is_looked_at().then(|| accounting(r).live);
            let newest = (*r).first;
            let begin = if moves_on { newest } else { cursor };
            if let Some(marked) = marked.filter(|_| moves_on) {
                let Taken { first, bytes, .. } = self.taken[marked];
                poison(s, cursor, first.add(bytes));
            }
            poison(s, begin, (*r).cursor);
            (*r).cursor = begin;
            // Those that are alone and older than the mark stay, though they were taken after the empty one.
            let mut gone = self.taken.split_off(since);
            gone.extend(empty.map(|i| self.taken.remove(i)));
            for chunk in gone {
                if chunk.first == newest {
                    self.taken.push(chunk);
                    continue;
                }
                poison(s, chunk.first, chunk.first.add(chunk.bytes));
                drop_chunk(r, chunk.first);
                freed += chunk.bytes;
            }
            self.dropped += before.map_or(0, |before| before - accounting(r).live);
        }
        freed
    }
}

/// Makes what is dropped unusable in checked programs.
///
/// # Safety
/// The memory from `begin` to `end` is the region's, and not used any more.
unsafe fn poison(s: &State, begin: *mut u8, end: *mut u8) {
    if s.is_checked() {
        let words = (end as usize - begin as usize) / 8;
        // SAFETY: the caller's contract.
        unsafe { std::slice::from_raw_parts_mut(begin.cast::<u64>(), words) }.fill(POISON);
    }
}
