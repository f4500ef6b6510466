//! Runs kept near: what a heap freed recently, found again without a shared lock.
//!
//! Runs of 1 to 64 units (4 MiB), by length, the newest first, for the next slabs. What there is no room
//! for pushes the oldest out to the span source, and so does the purger when a run has waited for
//! the decay. A run that is cut leaves its rest here. The room doubles when a run is missed after
//! others were pushed out, and shrinks by what grows old: so it is as large as what the heap frees
//! and takes again in turn.

use crate::base::class::MOST_UNITS;
use crate::base::layout::{UNIT, Unit};
use crate::base::list::List;
use crate::map::bin::FREE;
use crate::map::record::{BySort, ByTime, Kind, Span};
use crate::map::span_map::MAP;
use crate::source::{Free, SOURCE, huge};

/// Free runs of one heap. Zero bytes are none.
pub struct Near {
    /// Runs by length.
    sorts: [List<BySort>; MOST_UNITS + 1],
    /// The lengths of which there are runs.
    used: u128,
    /// All of them, the oldest first.
    ages: List<ByTime>,
    bytes: usize,
    /// Bytes of runs that there is room for; 0 for the least.
    room: usize,
    /// True when a run was pushed out since one was missed.
    pushed_out: bool,
    /// By what span is used for: units that came from here less units that came here, for the span
    /// source does not see them change.
    pub changed: [isize; Kind::COUNT],
}

impl Near {
    const LEAST_ROOM: usize = 4 << 20;
    const MOST_ROOM: usize = 128 << 20;

    /// No runs.
    pub const fn new() -> Near {
        Near {
            sorts: [const { List::new() }; MOST_UNITS + 1],
            used: 0,
            ages: List::new(),
            bytes: 0,
            room: 0,
            pushed_out: false,
            changed: [0; Kind::COUNT],
        }
    }

    /// Bytes of all runs together.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes a run of `units` units for a span of some kind; cuts a longer one where that leaves at
    /// most as much as is taken.
    pub fn take(&mut self, units: usize, kind: Kind) -> Option<(Unit, usize)> {
        if units > MOST_UNITS {
            return None;
        }
        let fitting = self.used & (!0 << units);
        let len = fitting.trailing_zeros() as usize;
        if fitting == 0 || len > 2 * units {
            if core::mem::take(&mut self.pushed_out) {
                self.room = (self.room.max(Near::LEAST_ROOM) * 2).min(Near::MOST_ROOM);
            }
            return None;
        }
        let unit = self.sorts[len].first();
        // SAFETY: listed runs are the heap's, and leave the list here; the rest is listed anew.
        unsafe {
            let span = MAP.span(unit);
            let run = *Span::run(span);
            self.remove(unit);
            let dirty = (run.dirty_units as usize).min(len);
            if len > units {
                let rest = unit + units;
                self.add(rest, len - units, dirty.saturating_sub(units), run.stamp);
            }
            (*span).units = units as u32;
            (*span).start = MAP.address_of(unit);
            (*span).set_kind(kind);
            self.count(kind, units as isize);
            Some((unit, dirty.min(units)))
        }
    }

    fn count(&mut self, kind: Kind, units: isize) {
        self.changed[kind as usize] += units;
        self.changed[Kind::Free as usize] -= units;
    }

    /// Keeps a span that was used as `kind`, and of which the first `dirty` units may not read as
    /// zero. False when it is too long.
    ///
    /// # Safety
    /// The units are a whole span that nobody uses any more.
    pub unsafe fn keep(
        &mut self,
        unit: Unit,
        units: usize,
        dirty: usize,
        kind: Kind,
        stamp: u32,
    ) -> bool {
        if units > MOST_UNITS {
            return false;
        }
        // SAFETY: the span is the caller's to give up.
        unsafe {
            MAP.enter(unit, units, FREE.entry());
            (*MAP.span(unit)).set_kind(Kind::Free);
            self.add(unit, units, dirty, stamp);
        }
        self.count(kind, -(units as isize));
        while self.bytes > self.room.max(Near::LEAST_ROOM) {
            self.pushed_out = true;
            self.give_oldest();
        }
        true
    }

    unsafe fn add(&mut self, unit: Unit, units: usize, dirty: usize, stamp: u32) {
        // SAFETY: the caller's run is the heap's, and not listed.
        unsafe {
            let span = MAP.span(unit);
            (*span).units = units as u32;
            let run = Span::run(span);
            (*run).stamp = stamp;
            (*run).dirty_units = dirty as u32;
            self.sorts[units].push_front(unit);
            self.ages.push_back(unit);
        }
        self.used |= 1 << units;
        self.bytes += units * UNIT;
    }

    unsafe fn remove(&mut self, unit: Unit) {
        // SAFETY: the caller's run is listed.
        unsafe {
            let units = (*MAP.span(unit)).units as usize;
            self.sorts[units].remove(unit);
            self.ages.remove(unit);
            if self.sorts[units].is_empty() {
                self.used &= !(1 << units);
            }
            self.bytes -= units * UNIT;
        }
    }

    /// Gives the oldest run back to the span source. False when there is none.
    fn give_oldest(&mut self) -> bool {
        let unit = self.ages.first();
        if unit.is_none() {
            return false;
        }
        // SAFETY: a listed run is the heap's.
        unsafe {
            let units = (*MAP.span(unit)).units as usize;
            let run = *Span::run(MAP.span(unit));
            self.remove(unit);
            give(unit, units, run.dirty_units as usize, Kind::Free, run.stamp);
        }
        true
    }

    /// Gives runs that have waited for `delay` milliseconds back to the span source, at most `most`
    /// of them.
    pub fn give_old(&mut self, now: u32, delay: u32, most: usize) -> Left {
        for _ in 0..most {
            let unit = self.ages.first();
            if unit.is_none() {
                return Left::Nothing;
            }
            let span = MAP.span(unit);
            // SAFETY: a listed run is the heap's.
            let (stamp, units) = unsafe { ((*Span::run(span)).stamp, (*span).units as usize) };
            if (now.wrapping_sub(stamp) as i32) < delay as i32 {
                return Left::Young;
            }
            self.room = self.room.saturating_sub(units * UNIT);
            self.give_oldest();
        }
        Left::Old
    }
}

/// What is left of the runs kept near.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// None.
    Nothing,
    /// Runs that have not waited long enough.
    Young,
    /// Perhaps some that have.
    Old,
}

/// Returns a span to the span source: its first `dirty` units as dirty, the rest as clean.
///
/// # Safety
/// The units are a whole span, or the end of one, that nobody uses any more, counted as `kind`.
pub unsafe fn give(unit: Unit, units: usize, dirty: usize, kind: Kind, stamp: u32) {
    // A huge page that the kernel made may reach beyond what was used.
    let dirty = if huge::everywhere() { units } else { dirty };
    // SAFETY: the caller's contract; the parts are disjoint.
    unsafe {
        if dirty < units {
            SOURCE.give(unit + dirty, units - dirty, kind, true, stamp);
        }
        if dirty > 0 {
            SOURCE.give(unit, dirty.min(units), kind, false, stamp);
        }
    }
}

/// What a run from the span source has of units that may not read as zero.
pub fn dirty_units(free: &Free, units: usize) -> usize {
    if free.clean { 0 } else { units }
}
