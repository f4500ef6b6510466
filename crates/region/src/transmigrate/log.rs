//! Which headers were overwritten with forwarding addresses, and putting them back.

use super::pairs::{PAIR, PAIR_BYTES};
use crate::base::scratch::{Full, Stack};
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
