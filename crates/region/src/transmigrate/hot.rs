//! The straight line of a scan: what it keeps in registers, and copying what slots lead to without a call.

use super::atlas::Place;
use super::lanes;
use super::mover::Mover;
use super::pairs::{PAIR_BYTES, copy_one, leads_nowhere, pair_of, to_pair};
use super::visited::Extent;
use crate::data::types;
use crate::data::value::{Header, TAG_PAIR, forwarded, forwarding, is_immediate};

/// Times that a lane may copy before what it overwrote is noted.
const MOST_NOTED: usize = 64;
/// Objects up to this many words are copied without a call.
const MOST_AT_ONCE: usize = 16;

/// What the straight line of a scan keeps in registers.
pub(super) struct Hot {
    /// The memory met last, if its objects' first words may be overwritten.
    here: Place,
    pub(super) cursor: *mut u64,
    pub(super) limit: *mut u64,
    /// Where the log's last run of pairs ends.
    run_end: *mut u64,
    /// A word and what became of it: what many lead to, as records do to their type, is looked up once.
    last: (u64, u64),
    /// The header and the words of the object copied last that is not a pair.
    same: (u64, usize),
}

impl Hot {
    #[inline(always)]
    pub(super) unsafe fn of(mover: &Mover) -> Hot {
        // SAFETY: the destination is alive.
        unsafe {
            Hot {
                here: mover.here.place(),
                cursor: (*mover.dest).cursor.cast(),
                limit: (*mover.dest).limit.cast(),
                run_end: mover.log.run.1,
                last: (0, 0),
                same: (0, 0),
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn put(&self, mover: &mut Mover) {
        // SAFETY: as in `of`.
        unsafe { (*mover.dest).cursor = self.cursor.cast() };
        mover.log.run.1 = self.run_end;
        if self.here.words > 0 {
            mover.here = Extent::of(self.here);
        }
    }

    /// Notes a pair that is to be overwritten. False when the log is full, and the move stops.
    #[inline(always)]
    unsafe fn note(&mut self, mover: &mut Mover, p: *mut u64, car: u64) -> bool {
        let noted = match is_immediate(car) {
            true => {
                let noted = p == self.run_end || mover.log.start(p, self.run_end).is_ok();
                if noted {
                    self.run_end = p.wrapping_add(2);
                }
                noted
            }
            false => mover.log.pair(p, car).is_ok(),
        };
        if !noted {
            mover.stop();
        }
        noted
    }

    /// Copies both children of the pair at `at` when they are uncopied pairs side by side, as in a tree
    /// that is laid out level by level. False when nothing was done.
    #[inline(always)]
    pub(super) unsafe fn twins<const LOGS: bool>(
        &mut self,
        mover: &mut Mover,
        at: *mut u64,
        car: u64,
        cdr: u64,
    ) -> bool {
        // SAFETY: `holds` vouches for the pairs; there is room for both copies.
        unsafe {
            let (p, q) = (pair_of(car), self.cursor);
            if cdr.wrapping_sub(car) != PAIR_BYTES as u64 || p.is_null() {
                return false;
            }
            if !self.here.holds(p as u64) || !self.here.holds(p as u64 + PAIR_BYTES as u64) {
                return false;
            }
            let (first, second) = (*p, *p.add(2));
            if forwarded(first).is_some() || forwarded(second).is_some() {
                return false;
            }
            if self.limit as usize - (q as usize) < 2 * PAIR_BYTES {
                return false;
            }
            if LOGS && !(self.note(mover, p, first) && self.note(mover, p.add(2), second)) {
                return true;
            }
            *q.cast::<[u64; 4]>() = *p.cast::<[u64; 4]>();
            *p = forwarding(q);
            *p.add(2) = forwarding(q.add(2));
            *at = to_pair(q);
            *at.add(1) = to_pair(q.add(2));
            self.cursor = q.add(4);
            true
        }
    }

    /// Scans pairs from `at` on as long as their children lie side by side in their order; how many.
    #[inline(always)]
    pub(super) unsafe fn level<const LOGS: bool>(
        &mut self,
        mover: &mut Mover,
        at: *mut u64,
        end: *mut u64,
    ) -> usize {
        let pairs = (end as usize - at as usize) / PAIR_BYTES;
        // SAFETY: copies lie up to `end`; `holds` vouches for the first child.
        unsafe {
            let (car, p) = (*at, pair_of(*at));
            if pairs < 4 || *at.add(6) != car.wrapping_add(96) || !self.here.holds(p as u64) {
                return 0;
            }
            let lane = |p, q, most, any| lanes::level(at, p, q, most, any);
            self.side_by_side::<LOGS, 2>(mover, p, pairs, lane)
        }
    }

    /// Forwards slots of an array from `at` on as long as they point to uncopied pairs side by side in
    /// their order; how many.
    #[inline(always)]
    pub(super) unsafe fn row<const LOGS: bool>(
        &mut self,
        mover: &mut Mover,
        at: *mut u64,
        past: *mut u64,
    ) -> usize {
        let slots = (past as usize - at as usize) / 8;
        // SAFETY: slots lie up to `past`; `holds` vouches for the first one's object.
        unsafe {
            let p = pair_of(*at);
            if slots < 4 || *at.add(3) != (*at).wrapping_add(48) || !self.here.holds(p as u64) {
                return 0;
            }
            let lane = |p, q, most, any| lanes::row(at, p, q, most, any);
            self.side_by_side::<LOGS, 1>(mover, p, slots, lane)
        }
    }

    /// Has a lane copy up to `most` times `PAIRS` pairs that lie side by side from `p` on; how many times it did, or
    /// `most` where the move stops.
    ///
    /// # Safety
    /// `p` lies in the memory met last. The lane, called with `p`, the cursor and the most that source and destination
    /// have room for, copies that much at most.
    #[inline(always)]
    unsafe fn side_by_side<const LOGS: bool, const PAIRS: usize>(
        &mut self,
        mover: &mut Mover,
        p: *mut u64,
        most: usize,
        lane: impl FnOnce(*mut u64, *mut u64, usize, bool) -> usize,
    ) -> usize {
        let q = self.cursor;
        let source = self.here.base + 8 * self.here.words - p as u64;
        let source = source as usize / (PAIRS * PAIR_BYTES);
        let room = (self.limit as usize - q as usize) / (PAIRS * PAIR_BYTES);
        let mut few = most.min(source).min(room);
        // SAFETY: the lane's copies lie from `q` on, their originals from `p` on.
        unsafe {
            let any = !LOGS || !is_immediate(*p);
            if LOGS {
                let noted = if any {
                    few = few.min(MOST_NOTED);
                    mover.log.reserve(PAIRS * few)
                } else if p == self.run_end {
                    Ok(())
                } else {
                    mover.log.start(p, self.run_end)
                };
                if noted.is_err() {
                    mover.stop();
                    return most;
                }
            }
            let copied = lane(p, q, few, any);
            if LOGS && any {
                mover.log.cars(p, q, PAIRS * copied);
            } else if LOGS {
                self.run_end = p.add(2 * PAIRS * copied);
            }
            self.cursor = q.add(2 * PAIRS * copied);
            copied
        }
    }

    /// Forwards a slot of the copy that ends at `past`.
    #[inline(always)]
    pub(super) unsafe fn forward<const LOGS: bool>(
        &mut self,
        mover: &mut Mover,
        slot: *mut u64,
        past: *mut u64,
    ) {
        // SAFETY: as in `twins`.
        unsafe {
            let word = *slot;
            if leads_nowhere(word) {
                return;
            }
            let tag = word & TAG_PAIR;
            let address = word & !TAG_PAIR;
            let mut place = self.here;
            if !place.holds(address) {
                // The nodes of a list copied in one go lead to one another already.
                if address == past as u64 || word == 0 {
                    return;
                }
                if word == self.last.0 {
                    *slot = self.last.1;
                    return;
                }
                match mover.atlas.find(address) {
                    Some(found) => place = found,
                    None if mover.atlas.stays(address) => return,
                    None => return self.forward_elsewhere(mover, slot),
                }
            }
            let (p, q) = (address as *mut u64, self.cursor);
            let first = *p;
            if let Some(copy) = forwarded(first) {
                self.last = (word, copy | tag);
                *slot = copy | tag;
                return;
            }
            self.here = place;
            if tag == 0 {
                if !self.copy_other::<LOGS>(mover, p, first) {
                    return self.forward_elsewhere(mover, slot);
                }
                *slot = q as u64;
                return;
            }
            if self.limit as usize - (q as usize) < PAIR_BYTES {
                return self.forward_elsewhere(mover, slot);
            }
            if LOGS && !self.note(mover, p, first) {
                return;
            }
            copy_one(p, q);
            *slot = to_pair(q);
            self.cursor = q.add(2);
            if is_immediate(first) && !pair_of(*p.add(1)).is_null() {
                self.put(mover);
                mover.follow(p, q);
                *self = Hot { last: self.last, same: self.same, ..Hot::of(mover) };
            }
        }
    }

    /// Copies an object that is no pair and needs no particular alignment. False when there is no room for it
    /// here or in the log, or it is large.
    #[inline(always)]
    unsafe fn copy_other<const LOGS: bool>(
        &mut self,
        mover: &mut Mover,
        p: *mut u64,
        header: u64,
    ) -> bool {
        // SAFETY: the callers' object lies in `here`; there is room for the copy.
        unsafe {
            if header != self.same.0 {
                let Some(bytes) = types::plain_bytes(Header(header)) else { return false };
                self.same = (header, bytes / 8);
            }
            let (words, q) = (self.same.1, self.cursor);
            let room = (self.limit as usize - q as usize) / 8;
            if words > room.min(MOST_AT_ONCE) || (LOGS && mover.log.object(p).is_err()) {
                return false;
            }
            copy_words(p, q, words);
            *p = forwarding(q);
            self.cursor = q.add(words);
            true
        }
    }

    #[inline(never)]
    unsafe fn forward_elsewhere(&mut self, mover: &mut Mover, slot: *mut u64) {
        // SAFETY: as in `twins`.
        unsafe {
            let word = *slot;
            self.put(mover);
            mover.forward(slot.cast());
            if *slot == word && mover.stopped.is_none() {
                mover.atlas.enter_staying(word & !TAG_PAIR);
            }
            *self = Hot { last: (word, *slot), same: self.same, ..Hot::of(mover) };
        }
    }
}

/// Copies a few words.
#[inline(always)]
unsafe fn copy_words(mut p: *const u64, mut q: *mut u64, words: usize) {
    // SAFETY: the callers' objects have so many words, and do not overlap.
    unsafe {
        for _ in 0..words / 4 {
            *q.cast::<[u64; 4]>() = *p.cast::<[u64; 4]>();
            (p, q) = (p.add(4), q.add(4));
        }
        if words & 2 != 0 {
            *q.cast::<[u64; 2]>() = *p.cast::<[u64; 2]>();
            (p, q) = (p.add(2), q.add(2));
        }
        if words & 1 != 0 {
            *q = *p;
        }
    }
}
