//! Which first words were overwritten with forwarding addresses, and putting them back.
//!
//! A copy has its original's first word, unless that is a pair's first value and leads somewhere: then the scan changes
//! it in the copy, and the log keeps it.

use super::pairs::PAIR_BYTES;
use crate::base::scratch::{Full, Stack};
use crate::data::value::forwarded;
use core::ptr;

/// A word followed by the run's end.
const RUN: u64 = 1;
/// A pair followed by its first value.
const PAIR: u64 = 2;
/// A word followed by the end of pairs that lie side by side, and by the first value of each.
const CARS: u64 = 3;

/// Words that are noted without taking memory from the heap.
const FEW: usize = 16;

/// Which first words were overwritten.
pub(super) struct Log {
    /// Addresses with their kind in the low bits: the first of them, of which `few_len` are used.
    few: [u64; FEW],
    few_len: usize,
    /// And the others.
    words: Stack<u64>,
    /// The pairs with immediates copied last, side by side in the source; not in `words` yet.
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

    /// Notes the pairs from `first` to before `end`, whose first values are immediates.
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

    /// Puts away the last run, which ends at `end`, and begins another. Its end is for the caller to set. On failure the
    /// last run stays.
    #[inline]
    pub(super) fn start(&mut self, first: *mut u64, end: *mut u64) -> Result<(), Full> {
        self.run.1 = end;
        let (old, end) = (self.run.0 as u64, end as u64);
        match (end - old) as usize {
            0 => {}
            PAIR_BYTES => self.push(old)?,
            _ => self.push_two(old | RUN, end)?,
        }
        self.run = (first, first);
        Ok(())
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

    /// Both words or none.
    #[inline]
    fn push_two(&mut self, first: u64, second: u64) -> Result<(), Full> {
        self.push(first)?;
        let pushed = self.push(second);
        if pushed.is_err() && self.words.pop().is_none() {
            self.few_len -= 1;
        }
        pushed
    }

    /// Notes an object that is not a pair.
    #[inline]
    pub(super) fn object(&mut self, p: *mut u64) -> Result<(), Full> {
        self.push(p as u64)
    }

    /// Notes a pair and its first value.
    #[inline]
    pub(super) fn pair(&mut self, p: *mut u64, car: u64) -> Result<(), Full> {
        self.push_two(p as u64 | PAIR, car)
    }

    /// Room for so many pairs, so that [`cars`](Log::cars) cannot fail for them.
    pub(super) fn reserve(&mut self, pairs: usize) -> Result<(), Full> {
        self.words.reserve(2 + pairs)
    }

    /// Notes pairs that lie side by side from `p` on, for which there is room, and their first values, which are still
    /// those of the copies from `q` on.
    ///
    /// # Safety
    /// So many copies lie at `q`.
    #[inline]
    pub(super) unsafe fn cars(&mut self, p: *mut u64, q: *const u64, pairs: usize) {
        if pairs == 0 {
            return;
        }
        let end = p.wrapping_byte_add(PAIR_BYTES * pairs) as u64;
        let word = |i| match i {
            0 => p as u64 | CARS,
            1 => end,
            // SAFETY: the caller's contract.
            _ => unsafe { *q.add(2 * (i - 2)) },
        };
        if self.few_len == FEW {
            return self.words.push_reserved(2 + pairs, word);
        }
        for i in 0..2 + pairs {
            // There is room for it.
            let _ = self.push(word(i));
        }
    }

    /// Puts the first words back. What was noted need not have been overwritten.
    pub(super) unsafe fn restore(&mut self) {
        // SAFETY: what is noted are originals that are as they were, or lead to complete copies.
        unsafe {
            restore_run(self.run.0, self.run.1);
            let mut words = self.few[..self.few_len].iter().chain(self.words.as_slice());
            while let Some(word) = words.next() {
                let p = (word & !7) as *mut u64;
                match word & 7 {
                    RUN => restore_run(p, words.next().map_or(p, |end| *end as *mut u64)),
                    PAIR => *p = words.next().map_or(*p, |car| *car),
                    CARS => {
                        let end = words.next().map_or(p, |end| *end as *mut u64);
                        restore_cars(p, end, &mut words);
                    }
                    _ => restore_one(p),
                }
            }
        }
    }
}

/// Puts back noted first values of pairs that lie side by side.
unsafe fn restore_cars<'c>(
    mut p: *mut u64,
    end: *mut u64,
    cars: &mut impl Iterator<Item = &'c u64>,
) {
    // SAFETY: as for `restore_run`.
    unsafe {
        while p < end {
            *p = cars.next().map_or(*p, |car| *car);
            p = p.byte_add(PAIR_BYTES);
        }
    }
}

/// Puts back the first words of pairs with immediates that lie side by side.
pub(super) unsafe fn restore_run(mut p: *mut u64, end: *mut u64) {
    // SAFETY: between the callers' bounds lie pairs, as in `Log::restore`.
    unsafe {
        while p < end {
            restore_one(p);
            p = p.byte_add(PAIR_BYTES);
        }
    }
}

/// Puts back a first word that the copy has, too.
unsafe fn restore_one(p: *mut u64) {
    // SAFETY: as in `Log::restore`.
    unsafe {
        if let Some(copy) = forwarded(*p) {
            *p = *(copy as *const u64);
        }
    }
}
