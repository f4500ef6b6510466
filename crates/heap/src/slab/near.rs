//! Runs kept near: what a heap freed recently, found again without a shared lock.
//!
//! Runs of 1 to 64 units (4 MiB), for the next slabs. When there is no room for a new run, the oldest ones are pushed
//! out to the span source; the purger also moves runs there when they have waited for the decay. When a run is missed
//! after others were pushed out, it comes back from the source, and the room doubles, then grows by the rest that is
//! missed (`medium-25k`). The room shrinks by runs that grow old. So it is as large as what the heap frees and
//! takes again in turn.
//!
//! A run serves a span of its own length, or of at least half of it, so that spans that come and go find their runs,
//! and their pages, as they left them (`blocks-8k-600k`, `medium-150k`). Only when there is no such run, none was
//! pushed out, and much is kept here, are neighbours joined and a longer run cut: then memory left by slabs of one
//! class serves those of another.

use crate::base::class::MOST_UNITS;
use crate::base::layout::{UNIT, Unit};
use crate::map::bin::FREE;
use crate::map::record::Kind;
use crate::map::span_map::MAP;
use crate::slab::runs::{FreeRun, FreeRuns};
use crate::source::{Free, SOURCE, huge};

/// Free runs of one heap; it does not move while there are any. All zero bytes: none.
pub struct Near {
    runs: FreeRuns,
    /// Bytes of runs that there is room for; 0 for the minimum.
    room: usize,
    /// Bytes of runs that were pushed out and not missed yet.
    pushed_out: usize,
    /// True when none was missed since the last was pushed out.
    is_cramped: bool,
    /// By kind of span: units taken from here minus units kept here, because the span
    /// source does not see these changes.
    pub changed: [isize; Kind::COUNT],
}

impl Near {
    const LEAST_ROOM: usize = 4 << 20;
    const MOST_ROOM: usize = 128 << 20;

    /// No runs.
    pub const fn new() -> Near {
        Near {
            runs: FreeRuns::new(),
            room: 0,
            pushed_out: 0,
            is_cramped: false,
            changed: [0; Kind::COUNT],
        }
    }

    /// Bytes of all runs together.
    pub fn bytes(&self) -> usize {
        self.runs.bytes()
    }

    /// Takes a run of `units` units for a span of some kind, for a heap with `used` units in slabs. With it comes how
    /// many units at its beginning may not read as zero.
    pub fn take(&mut self, units: usize, kind: Kind, used: usize) -> Option<(Unit, usize)> {
        let run = self.find(units, used)?;
        // SAFETY: listed runs are the heap's, and leave the list here; the rest is listed anew.
        unsafe {
            self.runs.remove(run);
            if run.units > units {
                let dirty = run.dirty.saturating_sub(units);
                self.runs.add(FreeRun {
                    unit: run.unit + units,
                    units: run.units - units,
                    dirty,
                    ..run
                });
            }
            let span = MAP.span(run.unit);
            (*span).units = units as u32;
            (*span).start = MAP.address_of(run.unit);
            (*span).set_kind(kind);
        }
        self.count(kind, units as isize);
        Some((run.unit, run.dirty.min(units)))
    }

    /// The run from which a span of `units` units is to be cut.
    fn find(&mut self, units: usize, used: usize) -> Option<FreeRun> {
        let run = self.runs.shortest(units);
        if run.is_some_and(|run| run.units <= 2 * units) {
            return run;
        }
        let bytes = units * UNIT;
        if self.pushed_out > 0 {
            self.pushed_out = self.pushed_out.saturating_sub(bytes);
            let room = self.room.max(Near::LEAST_ROOM);
            let more = if core::mem::take(&mut self.is_cramped) { room } else { bytes };
            self.room = (room + more).min(Near::MOST_ROOM);
            return None;
        }
        // While little is kept here, finding pages where they were left is worth more.
        if 2 * self.bytes() < used * UNIT {
            return None;
        }
        self.runs.join();
        self.runs.shortest(units)
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
            self.runs.add(FreeRun { unit, units, dirty: dirty.min(units), stamp });
        }
        self.count(kind, -(units as isize));
        while self.bytes() > self.room.max(Near::LEAST_ROOM)
            && let Some(oldest) = self.runs.oldest()
        {
            self.pushed_out += oldest.units * UNIT;
            self.is_cramped = true;
            self.give_up(oldest);
        }
        true
    }

    /// Gives a run back to the span source.
    fn give_up(&mut self, run: FreeRun) {
        // SAFETY: a listed run is the heap's.
        unsafe {
            self.runs.remove(run);
            give(run.unit, run.units, run.dirty, Kind::Free, run.stamp);
        }
    }

    /// Gives runs that have waited for `delay` milliseconds back to the span source, at most `most`
    /// of them.
    pub fn give_old(&mut self, now: u32, delay: u32, most: usize) -> Left {
        for _ in 0..most {
            let Some(run) = self.runs.oldest() else { return Left::Nothing };
            if (now.wrapping_sub(run.stamp) as i32) < delay as i32 {
                return Left::Young;
            }
            self.room = self.room.saturating_sub(run.units * UNIT);
            self.give_up(run);
        }
        Left::Old
    }
}

/// What is left of the runs kept near after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// None.
    Nothing,
    /// Only runs that have not waited long enough.
    Young,
    /// Possibly some that have.
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

/// How many units of a run from the span source may not read as zero.
pub fn dirty_units(free: &Free, units: usize) -> usize {
    if free.clean { 0 } else { units }
}
