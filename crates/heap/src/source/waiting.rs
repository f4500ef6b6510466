//! Spans that were freed while the source's lock could not be taken: by a signal handler whose thread
//! was interrupted with the lock held. The handler may take them again; whoever takes the lock next files the others.

use crate::base::layout::Unit;
use crate::base::sync::{AtomicU32, Ordering, const_fn};
use crate::map::span_map::MAP;

/// A stack of free spans, linked by their records' `owner`: many threads push, one takes all.
pub struct Waiting {
    first: AtomicU32,
}

/// The spans that were taken out.
pub struct Taken {
    next: Unit,
}

impl Waiting {
    const_fn! {
        /// Nothing waits.
        pub fn new() -> Waiting {
            Waiting { first: AtomicU32::new(0) }
        }
    }

    /// True when nothing waits. A hint.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.load(Ordering::Relaxed) == 0
    }

    /// Puts a span in.
    ///
    /// # Safety
    /// The span is free, nobody's, and in no list.
    pub unsafe fn push(&self, unit: Unit, units: usize) {
        // SAFETY: the caller's span is free and nobody's.
        unsafe {
            let span = MAP.span(unit);
            (*span).units = units as u32;
            let mut first = self.first.load(Ordering::Relaxed);
            loop {
                (*span).owner.store(first as usize as *mut (), Ordering::Relaxed);
                let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
                match self.first.compare_exchange(first, unit.number(), release, relaxed) {
                    Ok(_) => return,
                    Err(now) => first = now,
                }
            }
        }
    }

    /// Takes `units` units out of the shortest span that has as many after those that `ahead` says are to be skipped;
    /// the rest of it stays.
    pub fn take(&self, units: usize, ahead: impl Fn(Unit) -> usize) -> Option<Unit> {
        let mut best: Option<(Unit, usize)> = None;
        for (unit, len) in self.take_all() {
            let is_better = len >= ahead(unit) + units && best.is_none_or(|(_, least)| len < least);
            let other = if is_better { best.replace((unit, len)) } else { Some((unit, len)) };
            if let Some((unit, len)) = other {
                // SAFETY: a span that was taken out is free and the taker's.
                unsafe { self.push(unit, len) };
            }
        }
        let (unit, len) = best?;
        let ahead = ahead(unit);
        let found = unit + ahead;
        for (rest, len) in [(unit, ahead), (found + units, len - ahead - units)] {
            if len > 0 {
                // SAFETY: as above.
                unsafe { self.push(rest, len) };
            }
        }
        Some(found)
    }

    /// Takes all spans out.
    pub fn take_all(&self) -> Taken {
        Taken { next: Unit::new(self.first.swap(0, Ordering::Acquire) as usize) }
    }
}

impl Iterator for Taken {
    type Item = (Unit, usize);

    fn next(&mut self) -> Option<(Unit, usize)> {
        let unit = self.next;
        if unit.is_none() {
            return None;
        }
        // SAFETY: spans that were taken out are free and the taker's.
        unsafe {
            let span = MAP.span(unit);
            self.next = Unit::new((*span).owner.load(Ordering::Relaxed) as usize);
            Some((unit, (*span).units as usize))
        }
    }
}
