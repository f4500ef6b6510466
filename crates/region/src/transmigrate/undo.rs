//! Headers that were overwritten with forwarding addresses, and putting them back.
//!
//! After a copy, from a log. After a failure, when there is no memory even for a log, by walking the
//! source from the roots once more: its slots are as they were, and a header that is a forwarding
//! address leads to a copy that has the header. The copies are of no use any more, and hold the walk's
//! stack.

use super::mover::{Mover, PAIR, PAIR_BYTES};
use crate::scratch::{Full, Stack};
use crate::slots::{extent_of, region_of};
use crate::types;
use crate::value::{Header, Raw};
use core::ptr;

/// A word followed by the run's end.
const RUN: u64 = 1;
/// An object that is not a pair.
const OTHER: u64 = 2;

/// Words that are noted without taking memory from the heap.
const FEW: usize = 16;

/// Which headers were overwritten.
pub(super) struct Log {
    /// Addresses with their kind in the low bits: the first of them, of which `few_len` are used.
    few: [u64; FEW],
    few_len: usize,
    /// And the others.
    words: Stack<u64>,
    /// The pairs copied last, side by side in the source; not in `words` yet.
    pub(super) run: (*mut u64, *mut u64),
}

impl Log {
    pub(super) const fn new() -> Log {
        Log {
            few: [0; FEW],
            few_len: 0,
            words: Stack::new(),
            run: (ptr::null_mut(), ptr::null_mut()),
        }
    }

    /// Notes the pairs from `first` to before `end`.
    #[inline]
    pub(super) fn pairs(&mut self, first: *mut u64, end: *mut u64) -> Result<(), Full> {
        if first == self.run.1 {
            self.run.1 = end;
            return Ok(());
        }
        if end == self.run.0 {
            self.run.0 = first;
            return Ok(());
        }
        let old = self.run.1;
        self.start(first, old)?;
        self.run.1 = end;
        Ok(())
    }

    /// Puts away the last run, which ends at `end`, and begins another. Its end is for the caller to set.
    #[inline]
    pub(super) fn start(&mut self, first: *mut u64, end: *mut u64) -> Result<(), Full> {
        let (old, end) = (self.run.0 as u64, end as u64);
        self.run = (first, first);
        match end - old {
            0 => Ok(()),
            24 => self.push(old),
            _ => {
                self.push(old | RUN)?;
                self.push(end)
            }
        }
    }

    #[inline]
    fn push(&mut self, word: u64) -> Result<(), Full> {
        if self.few_len < FEW {
            self.few[self.few_len] = word;
            self.few_len += 1;
            return Ok(());
        }
        self.words.push(word)
    }

    /// Notes an object that is not a pair.
    #[inline]
    pub(super) fn object(&mut self, p: *mut u64) -> Result<(), Full> {
        self.push(p as u64 | OTHER)
    }

    /// Puts the headers back.
    pub(super) unsafe fn restore(&mut self) {
        // SAFETY: what is noted are originals that lead to complete copies.
        unsafe {
            restore_pairs(self.run.0, self.run.1);
            let mut words = self.few[..self.few_len].iter().chain(self.words.as_slice());
            while let Some(word) = words.next() {
                let p = (word & !7) as *mut u64;
                if word & OTHER != 0 {
                    *p = *(*p as *const u64);
                } else if word & RUN != 0 {
                    restore_pairs(p, words.next().map_or(p, |end| *end as *mut u64));
                } else {
                    *p = PAIR;
                }
            }
        }
    }
}

unsafe fn restore_pairs(mut p: *mut u64, end: *mut u64) {
    // SAFETY: between the callers' bounds lie pairs.
    unsafe {
        while end as usize - p as usize >= 8 * PAIR_BYTES {
            for i in 0..8 {
                *p.byte_add(i * PAIR_BYTES) = PAIR;
            }
            p = p.byte_add(8 * PAIR_BYTES);
        }
        while p < end {
            *p = PAIR;
            p = p.byte_add(PAIR_BYTES);
        }
    }
}

impl Mover<'_> {
    /// Puts all headers back after a failure. Takes no memory; the copies are used up.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn put_back(&mut self, roots: &[Raw]) {
        let mut stack: *mut u64 = ptr::null_mut();
        // SAFETY: the source's slots are as they were; copies are complete and nobody else's.
        unsafe {
            for root in roots {
                self.put_back_one(*root, &mut stack);
            }
            while !stack.is_null() {
                let p = *stack.add(1) as *mut u64;
                stack = *stack as *mut u64;
                types::each_slot(p, Header(*p), &mut |slot| self.put_back_one(*slot, &mut stack));
            }
        }
    }

    /// Puts a copied object's header back and puts the object on the stack, in its copy's memory.
    unsafe fn put_back_one(&mut self, value: Raw, stack: &mut *mut u64) {
        let Some(p) = value.pointer() else { return };
        // SAFETY: as in `put_back`; the callers' value is alive.
        if unsafe { region_of(p.cast()).is_null() } {
            return;
        }
        // SAFETY: as in `put_back`; a copy of more than its header has room for link and address.
        unsafe {
            let copy = if *p & 1 == 0 {
                let copy = *p as *mut u64;
                *p = *copy;
                copy
            } else {
                let (base, _) = extent_of(p.cast());
                let Some(copy) = self.visited.forget(base, p) else { return };
                copy as *mut u64
            };
            if types::object_bytes(p, Header(*p)) >= 16 {
                *copy.add(1) = p as u64;
                *copy = *stack as u64;
                *stack = copy;
            }
        }
    }
}
