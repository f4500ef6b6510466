//! Scanning the copies: the queue is the destination's memory itself, from the first copy to the cursor.

use super::ahead;
use super::hot::Hot;
use super::lanes;
use super::mover::Mover;
use super::pairs::{FLOAT, INT, PAIR_BYTES, leads_nowhere};
use crate::data::types;
use crate::data::value::{Header, is_header};
use crate::memory::control::{Chunk, Control, INLINE_BYTES};

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
            if self.logs {
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
                scan.at = if self.logs {
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
                if !is_header(header) {
                    let (car, cdr) = (header, *at.add(1));
                    if leads_nowhere(car) && leads_nowhere(cdr) {
                        let most = (end as usize - at as usize) / PAIR_BYTES;
                        at = at.add(2 * lanes::leaves(at, most).max(1));
                        continue;
                    }
                    let scanned = hot.level::<LOGS>(self, at, end);
                    if scanned > 0 {
                        at = at.add(2 * scanned);
                        continue;
                    }
                    ahead::ask(at, end);
                    ahead::ask(at.add(1), end);
                    if !hot.twins::<LOGS>(self, at, car, cdr) {
                        hot.forward::<LOGS>(self, at, at.add(2));
                        hot.forward::<LOGS>(self, at.add(1), at.add(2));
                    }
                    at = at.add(2);
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
