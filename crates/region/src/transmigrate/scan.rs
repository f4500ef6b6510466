//! Scanning the copies: the queue is the destination's memory itself, from the first copy to the cursor.

use super::ahead;
use super::atlas::Place;
use super::lanes;
use super::mover::Mover;
use super::pairs::{FLOAT, INT, PAIR, PAIR_BYTES, copy_one};
use super::visited::Extent;
use crate::data::types;
use crate::data::value::Header;
use crate::memory::control::{Chunk, Control, INLINE_BYTES};

/// Objects up to this many words are copied without a call.
const MOST_AT_ONCE: usize = 16;

/// How far the copies have been scanned.
pub(super) struct Scan {
    at: *mut u64,
    /// The newest chunk when scanning of the current memory began; null for none.
    chunk: *mut Chunk,
    /// Scanning began where the cursor was, not in a new chunk.
    inside: bool,
}

impl Scan {
    /// What is copied from now on is to be scanned.
    pub(super) unsafe fn from_cursor(dest: *mut Control) -> Scan {
        // SAFETY: the callers' region is alive.
        unsafe { Scan { at: (*dest).cursor.cast(), chunk: (*dest).newest, inside: true } }
    }
}

impl Mover<'_> {
    /// Scans copies until there are none left.
    pub(super) unsafe fn drain(&mut self, scan: &mut Scan) {
        // SAFETY: what lies between the scan and the cursor are copies, one after another.
        unsafe {
            while self.stopped.is_none() {
                self.scan_here(scan);
                if let Some(p) = self.large.pop() {
                    self.scan_large(p);
                } else if !self.next_memory(scan) {
                    return;
                }
            }
        }
    }

    /// Scans a copy in a chunk of its own.
    unsafe fn scan_large(&mut self, p: *mut u64) {
        // SAFETY: `p` is a complete copy.
        unsafe {
            let end = p.byte_add(types::object_bytes(p, Header(*p)));
            if self.logs() {
                self.scan_to::<true>(p, end, false);
            } else {
                self.scan_to::<false>(p, end, false);
            }
        }
    }

    /// Scans to the end of what is in the scan's memory now.
    unsafe fn scan_here(&mut self, scan: &mut Scan) {
        // SAFETY: as in `drain`.
        unsafe {
            while self.stopped.is_none() {
                let end = self.end_of(scan);
                if scan.at >= end {
                    return;
                }
                if scan.at == self.closed.0 {
                    scan.at = self.closed.1;
                }
                let open = self.following(scan).is_null();
                scan.at = if self.logs() {
                    self.scan_to::<true>(scan.at, end, open)
                } else {
                    self.scan_to::<false>(scan.at, end, open)
                };
            }
        }
    }

    /// Forwards the slots of the objects from `at` up to `end`, at least, and returns where that is.
    ///
    /// The straight line: pairs and arrays of pairs that are to be copied, or were, in the memory met
    /// last. Where copies go on being added behind `end`, it is `open`: they are scanned in the same way.
    unsafe fn scan_to<const LOGS: bool>(
        &mut self,
        mut at: *mut u64,
        mut end: *mut u64,
        open: bool,
    ) -> *mut u64 {
        // SAFETY: `at` to `end` are copies, none of which is written but here.
        unsafe {
            let mut hot = Hot::of(self);
            let limit = hot.limit;
            loop {
                if at >= end {
                    let more = open && hot.limit == limit && self.stopped.is_none();
                    if !more || hot.cursor == at {
                        break;
                    }
                    end = hot.cursor;
                    if at == self.closed.0 {
                        at = self.closed.1;
                    }
                }
                let header = *at;
                if header == PAIR {
                    let (car, cdr) = (*at.add(1), *at.add(2));
                    if car & 7 != 0 && cdr & 7 != 0 {
                        let most = (end as usize - at as usize) / PAIR_BYTES;
                        at = at.add(3 * lanes::leaves(at, most).max(1));
                        continue;
                    }
                    let scanned = hot.level::<LOGS>(self, at, end);
                    if scanned > 0 {
                        at = at.add(3 * scanned);
                        continue;
                    }
                    ahead::ask(at.add(1), end);
                    ahead::ask(at.add(2), end);
                    if !hot.twins::<LOGS>(self, at, car, cdr) {
                        hot.forward::<LOGS>(self, at.add(1), at.add(3));
                        hot.forward::<LOGS>(self, at.add(2), at.add(3));
                    }
                    at = at.add(3);
                } else if header == FLOAT || header == INT {
                    at = at.add(2);
                } else if let Some((first, past)) = types::only_values(at, Header(header)) {
                    at = first;
                    while at < past {
                        let row = hot.row::<LOGS>(self, at, past);
                        if row == 0 {
                            ahead::ask(at, end);
                            hot.forward::<LOGS>(self, at, past);
                        }
                        at = at.add(row.max(1));
                    }
                } else {
                    hot.put(self);
                    at = at.byte_add(self.scan_object(at));
                    hot = Hot::of(self);
                }
            }
            hot.put(self);
            at
        }
    }

    /// Forwards an object's slots; returns its length.
    #[inline]
    unsafe fn scan_object(&mut self, p: *mut u64) -> usize {
        // SAFETY: `p` is a complete copy.
        unsafe {
            let header = Header(*p);
            types::each_slot(p, header, &mut |slot| self.forward(slot));
            types::object_bytes(p, header)
        }
    }

    /// Past the last copy in the scan's memory.
    unsafe fn end_of(&self, scan: &mut Scan) -> *mut u64 {
        // SAFETY: the scan's memory is the inline buffer or a chunk of the destination.
        unsafe {
            if self.following(scan).is_null() {
                return (*self.dest).cursor.cast();
            }
            match scan.inside {
                // The scan began in the inline buffer, and the cursor has left it.
                true if self.in_inline(scan.at) => {
                    Control::inline_start(self.dest).add((*self.dest).inline_used as usize).cast()
                }
                _ => (*scan.chunk).top.cast(),
            }
        }
    }

    unsafe fn in_inline(&self, at: *mut u64) -> bool {
        let start = Control::inline_start(self.dest) as usize;
        (at as usize).wrapping_sub(start) <= INLINE_BYTES
    }

    /// The chunk that the cursor went to after the scan's; null when it is still there.
    unsafe fn following(&self, scan: &Scan) -> *mut Chunk {
        // SAFETY: the list's links are valid. Bump chunks are entered at the new end only.
        unsafe {
            if !scan.chunk.is_null() {
                return (*scan.chunk).newer;
            }
            let mut c = (*self.dest).oldest;
            while !c.is_null() && (*c).own {
                c = (*c).newer;
            }
            c
        }
    }

    unsafe fn next_memory(&self, scan: &mut Scan) -> bool {
        // SAFETY: as in `following`.
        unsafe {
            let next = self.following(scan);
            if next.is_null() {
                return false;
            }
            *scan = Scan { at: Chunk::first(next).cast(), chunk: next, inside: false };
            true
        }
    }
}

/// What the straight line of a scan keeps in registers.
struct Hot {
    /// The memory met last, if its objects' headers may be overwritten.
    here: Place,
    cursor: *mut u64,
    limit: *mut u64,
    /// Where the log's last run of pairs ends.
    run_end: *mut u64,
    /// A word and what became of it: what many lead to, as records do to their type, is looked up once.
    last: (u64, u64),
    /// The header and the words of the object copied last that is not a pair.
    same: (u64, usize),
}

impl Hot {
    #[inline(always)]
    unsafe fn of(mover: &Mover) -> Hot {
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
    unsafe fn put(&self, mover: &mut Mover) {
        // SAFETY: as in `of`.
        unsafe { (*mover.dest).cursor = self.cursor.cast() };
        mover.log.run.1 = self.run_end;
        if self.here.words > 0 {
            mover.here = Extent::of(self.here);
        }
    }

    /// True for the address of an object in the memory met last.
    #[inline(always)]
    fn holds(&self, word: u64) -> bool {
        self.here.holds(word)
    }

    /// Copies both children of the pair at `at` when they are uncopied pairs side by side, as in a tree
    /// that is laid out level by level. False when nothing was done.
    #[inline(always)]
    unsafe fn twins<const LOGS: bool>(
        &mut self,
        mover: &mut Mover,
        at: *mut u64,
        car: u64,
        cdr: u64,
    ) -> bool {
        // SAFETY: `holds` vouches for the car's object and the cdr's; there is room for both copies.
        unsafe {
            if cdr.wrapping_sub(car) != PAIR_BYTES as u64 || !self.holds(car) || !self.holds(cdr) {
                return false;
            }
            let (p, q) = (car as *mut u64, self.cursor);
            if *p != PAIR || *p.add(3) != PAIR {
                return false;
            }
            if self.limit as usize - (q as usize) < 2 * PAIR_BYTES {
                return false;
            }
            if LOGS {
                if p != self.run_end && mover.log.start(p, self.run_end).is_err() {
                    mover.stop();
                    return true;
                }
                self.run_end = p.add(6);
            }
            *q.cast::<[u64; 6]>() = *p.cast::<[u64; 6]>();
            *p = q as u64;
            *p.add(3) = q.add(3) as u64;
            *at.add(1) = q as u64;
            *at.add(2) = q.add(3) as u64;
            self.cursor = q.add(6);
            true
        }
    }

    /// Scans pairs from `at` on as long as their children lie side by side in their order; how many.
    #[inline(always)]
    unsafe fn level<const LOGS: bool>(
        &mut self,
        mover: &mut Mover,
        at: *mut u64,
        end: *mut u64,
    ) -> usize {
        let pairs = (end as usize - at as usize) / PAIR_BYTES;
        // SAFETY: copies lie up to `end`; `holds` vouches for the first child.
        unsafe {
            let car = *at.add(1);
            if pairs < 4 || *at.add(10) != car.wrapping_add(144) || !self.holds(car) {
                return 0;
            }
            let (p, q) = (car as *mut u64, self.cursor);
            let source = (self.here.base + 8 * self.here.words - car) as usize / (2 * PAIR_BYTES);
            let room = (self.limit as usize - q as usize) / (2 * PAIR_BYTES);
            if LOGS && p != self.run_end && mover.log.start(p, self.run_end).is_err() {
                mover.stop();
                return pairs;
            }
            let scanned = lanes::level(at, p, q, pairs.min(source).min(room));
            if LOGS {
                self.run_end = p.add(6 * scanned);
            }
            self.cursor = q.add(6 * scanned);
            scanned
        }
    }

    /// Forwards slots of an array from `at` on as long as they point to uncopied pairs side by side in
    /// their order; how many.
    #[inline(always)]
    unsafe fn row<const LOGS: bool>(
        &mut self,
        mover: &mut Mover,
        at: *mut u64,
        past: *mut u64,
    ) -> usize {
        let slots = (past as usize - at as usize) / 8;
        // SAFETY: slots lie up to `past`; `holds` vouches for the first one's object.
        unsafe {
            if slots < 4 || *at.add(3) != (*at).wrapping_add(72) || !self.holds(*at) {
                return 0;
            }
            let (p, q) = (*at as *mut u64, self.cursor);
            let source = (self.here.base + 8 * self.here.words - p as u64) as usize / PAIR_BYTES;
            let room = (self.limit as usize - q as usize) / PAIR_BYTES;
            if LOGS && p != self.run_end && mover.log.start(p, self.run_end).is_err() {
                mover.stop();
                return slots;
            }
            let forwarded = lanes::row(at, p, q, slots.min(source).min(room));
            if LOGS {
                self.run_end = p.add(3 * forwarded);
            }
            self.cursor = q.add(3 * forwarded);
            forwarded
        }
    }

    /// Forwards a slot of the copy that ends at `past`.
    #[inline(always)]
    unsafe fn forward<const LOGS: bool>(
        &mut self,
        mover: &mut Mover,
        slot: *mut u64,
        past: *mut u64,
    ) {
        // SAFETY: as in `twins`.
        unsafe {
            let word = *slot;
            if word & 7 != 0 {
                return;
            }
            let mut place = self.here;
            if !place.holds(word) {
                // The nodes of a list copied in one go lead to one another already.
                if word == past as u64 || word == 0 {
                    return;
                }
                if word == self.last.0 {
                    *slot = self.last.1;
                    return;
                }
                match mover.atlas.find(word) {
                    Some(found) => place = found,
                    None if mover.atlas.stays(word) => return,
                    None => return self.forward_elsewhere(mover, slot),
                }
            }
            let (p, q) = (word as *mut u64, self.cursor);
            let header = *p;
            if header & 1 == 0 {
                self.last = (word, header);
                *slot = header;
                return;
            }
            self.here = place;
            if header != PAIR || self.limit as usize - (q as usize) < PAIR_BYTES {
                if !self.copy_other::<LOGS>(mover, p, header) {
                    return self.forward_elsewhere(mover, slot);
                }
                *slot = q as u64;
                return;
            }
            if LOGS {
                if p != self.run_end && mover.log.start(p, self.run_end).is_err() {
                    mover.stop();
                    return;
                }
                self.run_end = p.add(3);
            }
            copy_one(p, q);
            *slot = q as u64;
            self.cursor = q.add(3);
            if *p.add(1) & 7 != 0 && *p.add(2) & 7 == 0 {
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
            *p = q as u64;
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
                mover.atlas.enter_staying(word);
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
