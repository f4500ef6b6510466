//! Copying lists in one go.
//!
//! After a pair whose car is an immediate comes the pair its cdr leads to, as long as that lies in the
//! same memory and there is room. Lists mostly lie one node beside the other: upwards when made by
//! [`batch::list`](crate::objects::batch::list), downwards when made by consing. Such **runs** are copied a block
//! at a time without waiting for any cdr: the addresses are known, and the cdrs are only compared.
//!
//! What is left open, the last node's slots, is found when the copies are scanned.

use super::lanes;
use super::log::restore_run;
use super::mover::Mover;
use super::pairs::{PAIR_BYTES, copy_one, pair_of, to_pair};
use crate::data::value::{forwarded, is_immediate};

impl Mover<'_> {
    /// Copies the pair at `p`, which has no copy yet, and what follows it.
    #[inline(never)]
    pub(super) unsafe fn copy_list(&mut self, p: *mut u64) -> Option<*mut u64> {
        // SAFETY: the callers' pair lies in `here`; the copy's memory is taken by `bump`.
        unsafe {
            let q = self.room_for_pair()?;
            if self.here.is_tabled() {
                self.copy_tabled(p, q);
                return Some(q);
            }
            if self.logs && self.log_pair(p).is_none() {
                return None;
            }
            copy_one(p, q);
            self.follow(p, q);
            Some(q)
        }
    }

    /// Notes one pair that is to be overwritten.
    unsafe fn log_pair(&mut self, p: *mut u64) -> Option<()> {
        // SAFETY: the callers' pair has no copy yet.
        let car = unsafe { *p };
        let noted = match is_immediate(car) {
            true => self.log.pairs(p, p.wrapping_byte_add(PAIR_BYTES)),
            false => self.log.pair(p, car),
        };
        if noted.is_err() {
            self.stop();
        }
        noted.ok()
    }

    /// Copies what follows the pair at `p`, whose copy at `q` ends at the cursor.
    pub(super) unsafe fn follow(&mut self, mut p: *mut u64, mut q: *mut u64) {
        let mut here = self.here;
        // SAFETY: nodes lie in `here` and have no copies; their copies go to the cursor's memory.
        unsafe {
            let first = q;
            let mut room =
                ((*self.dest).limit as usize - (*self.dest).cursor as usize) / PAIR_BYTES;
            loop {
                // The original's cdr is as it was, and is read sooner than what was just written.
                let next = pair_of(*p.add(1));
                if !is_immediate(*q) || next.is_null() || room == 0 {
                    break;
                }
                if !here.holds(next) {
                    if !self.enter(next) || self.here.is_tabled() {
                        break;
                    }
                    here = self.here;
                }
                if forwarded(*next).is_some() {
                    break;
                }
                let copy = q.add(2);
                let (count, last) = match (next as isize).wrapping_sub(p as isize) {
                    16 => {
                        let most = (here.base + here.len - next as usize) / PAIR_BYTES;
                        copy_run::<16>(next, copy, most.min(room))
                    }
                    -16 => {
                        let most = (next as usize - here.base) / PAIR_BYTES + 1;
                        copy_run::<-16>(next, copy, most.min(room))
                    }
                    _ => (0, next),
                };
                if count == 0 {
                    if self.logs && self.log_pair(next).is_none() {
                        break;
                    }
                    copy_one(next, copy);
                } else if self.logs {
                    let (low, high) = if last < next { (last, next) } else { (next, last) };
                    let end = high.byte_add(PAIR_BYTES);
                    if self.log.pairs(low, end).is_err() {
                        restore_run(low, end);
                        self.stop();
                        break;
                    }
                }
                *q.add(1) = to_pair(copy);
                let count = count.max(1);
                room -= count;
                (p, q) = (last, q.byte_add(PAIR_BYTES * count));
            }
            (*self.dest).cursor = q.byte_add(PAIR_BYTES).cast();
            self.closed = (first, q);
        }
    }

    /// The same for memory that other threads may read.
    unsafe fn copy_tabled(&mut self, mut p: *mut u64, first: *mut u64) {
        // SAFETY: as in `follow`.
        unsafe {
            let mut q = first;
            let mut room =
                ((*self.dest).limit as usize - (*self.dest).cursor as usize) / PAIR_BYTES;
            loop {
                *q.cast::<[u64; 2]>() = *p.cast::<[u64; 2]>();
                self.here.set_word(p, q as u64);
                let next = pair_of(*q.add(1));
                let open = !is_immediate(*q) || next.is_null();
                if open || !self.here.holds(next) || room == 0 || self.here.word(next).is_some() {
                    break;
                }
                let copy = q.add(2);
                *q.add(1) = to_pair(copy);
                (p, q, room) = (next, copy, room - 1);
            }
            (*self.dest).cursor = q.byte_add(PAIR_BYTES).cast();
            self.closed = (first, q);
        }
    }
}

/// Copies up to `most` pairs with immediates that follow one another `STRIDE` bytes apart; how many, and the last.
///
/// The copies lead to one another, but for the last, which has its original's cdr.
#[inline]
unsafe fn copy_run<const STRIDE: isize>(
    first: *mut u64,
    to: *mut u64,
    most: usize,
) -> (usize, *mut u64) {
    // SAFETY: `most` pairs fit in the source's memory in this direction and at `to`; each node is what
    // the cdr of the one before leads to.
    unsafe {
        let mut count = lanes::run::<STRIDE>(first, to, most);
        let mut p = first.byte_offset(count as isize * STRIDE);
        let mut q = to.add(2 * count);
        while count < most && leads_on::<STRIDE>(p) {
            copy_one(p, q);
            *q.add(1) = to_pair(q.add(2));
            (p, q, count) = (p.byte_offset(STRIDE), q.add(2), count + 1);
        }
        if count == 0 {
            return (0, first);
        }
        let last = p.byte_offset(-STRIDE);
        *q.sub(1) = *last.add(1);
        (count, last)
    }
}

/// True for an uncopied pair of an immediate and the pair `STRIDE` bytes on.
#[inline(always)]
unsafe fn leads_on<const STRIDE: isize>(p: *mut u64) -> bool {
    // SAFETY: as in `copy_run`.
    unsafe { is_immediate(*p) && *p.add(1) == to_pair(p.byte_offset(STRIDE)) }
}
