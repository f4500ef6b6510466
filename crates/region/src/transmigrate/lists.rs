//! Copying lists in one go.
//!
//! After a pair whose car is an immediate comes the pair its cdr leads to, as long as that lies in the
//! same memory and there is room. Lists mostly lie one node beside the other: upwards when made by
//! [`batch::list`](crate::objects::batch::list), downwards when made by consing. Such **runs** are copied a block
//! at a time without waiting for any cdr: the addresses are known, and the cdrs are only compared.
//!
//! What is left open, the last node's slots, is found when the copies are scanned.

use super::lanes;
use super::mover::Mover;
use super::pairs::{PAIR, PAIR_BYTES, copy_one};

/// True for a car that needs no scanning and is no empty slot.
#[inline(always)]
fn is_immediate(word: u64) -> bool {
    word & 7 != 0
}

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
            if self.logs() && self.log.pairs(p, p.byte_add(PAIR_BYTES)).is_err() {
                self.stop();
                return None;
            }
            copy_one(p, q);
            self.follow(p, q);
            Some(q)
        }
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
                let (car, cdr) = (*p.add(1), *p.add(2));
                let next = cdr as *mut u64;
                let open = !is_immediate(car) || is_immediate(cdr);
                if open || room == 0 {
                    break;
                }
                if !here.holds(next) {
                    if cdr == 0 || !self.enter(next) || self.here.is_tabled() {
                        break;
                    }
                    here = self.here;
                }
                if *next != PAIR {
                    break;
                }
                let copy = q.byte_add(PAIR_BYTES);
                *q.add(2) = copy as u64;
                let (count, last) = match (next as isize).wrapping_sub(p as isize) {
                    24 => {
                        let most = (here.base + here.len - next as usize) / PAIR_BYTES;
                        copy_run::<24>(next, copy, most.min(room))
                    }
                    -24 => {
                        let most = (next as usize - here.base) / PAIR_BYTES + 1;
                        copy_run::<-24>(next, copy, most.min(room))
                    }
                    _ => {
                        copy_one(next, copy);
                        (1, next)
                    }
                };
                room -= count;
                if self.logs() {
                    let (low, high) = if last < next { (last, next) } else { (next, last) };
                    if self.log.pairs(low, high.byte_add(PAIR_BYTES)).is_err() {
                        self.stop();
                        break;
                    }
                }
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
                let (car, cdr) = (*p.add(1), *p.add(2));
                *q = PAIR;
                *q.add(1) = car;
                *q.add(2) = cdr;
                self.here.set_word(p, q as u64);
                let next = cdr as *mut u64;
                let open = !is_immediate(car) || is_immediate(cdr);
                if open || !self.here.holds(next) || room == 0 || *next != PAIR {
                    break;
                }
                if self.here.word(next).is_some() {
                    break;
                }
                room -= 1;
                let copy = q.byte_add(PAIR_BYTES);
                *q.add(2) = copy as u64;
                (p, q) = (next, copy);
            }
            (*self.dest).cursor = q.byte_add(PAIR_BYTES).cast();
            self.closed = (first, q);
        }
    }
}

/// Copies the pair at `p`, and up to `most` pairs in all that follow one another `STRIDE` bytes apart;
/// how many, and the last.
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
        let mut q = to.add(3 * count);
        while count < most && leads_on::<STRIDE>(p) {
            copy_one(p, q);
            *q.add(2) = q.add(3) as u64;
            (p, q, count) = (p.byte_offset(STRIDE), q.add(3), count + 1);
        }
        if count == 0 {
            copy_one(first, to);
            return (1, first);
        }
        let last = p.byte_offset(-STRIDE);
        *q.sub(1) = *last.add(2);
        (count, last)
    }
}

/// True for an uncopied pair of an immediate and the pair `STRIDE` bytes on.
#[inline(always)]
unsafe fn leads_on<const STRIDE: isize>(p: *mut u64) -> bool {
    // SAFETY: as in `copy_run`.
    unsafe { *p == PAIR && is_immediate(*p.add(1)) && *p.add(2) == p.byte_offset(STRIDE) as u64 }
}
