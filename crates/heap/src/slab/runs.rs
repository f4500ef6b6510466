//! The free runs of one heap, by length and by age.
//!
//! ```text
//!   units:  7        10            20 21     24
//!        ───┌──────────┬─────────────┬──┬──────┐───
//!           │ run of 3 │ run of 10   │1 │ …    │     neighbours stay apart until they are joined
//!        ───└──────────┴─────────────┴──┴──────┘───
//!           tag        tag           tag
//! ```
//! The record of a run's first unit is tagged with the address of the [`FreeRuns`] that it is in, a value that nobody
//! else ever writes there. So a neighbour is known to be this heap's without reading what other threads may be changing.

use crate::base::class::MOST_UNITS;
use crate::base::layout::{UNIT, Unit};
use crate::base::list::List;
use crate::map::record::{BySort, ByTime, Span};
use crate::map::span_map::MAP;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// A free run.
#[derive(Clone, Copy)]
pub struct FreeRun {
    /// Its first unit.
    pub unit: Unit,
    /// Its length.
    pub units: usize,
    /// Units at its beginning that may not read as zero.
    pub dirty: usize,
    /// When it was freed.
    pub stamp: u32,
}

impl FreeRun {
    /// The run joined with the one after it, as old as the longer of the two: memory in constant use next to an old run
    /// does not keep it young, and a short old one does not push a long one out.
    fn joined(self, behind: FreeRun) -> FreeRun {
        let dirty = if behind.dirty > 0 { self.units + behind.dirty } else { self.dirty };
        let stamp = if self.units < behind.units { behind.stamp } else { self.stamp };
        FreeRun { unit: self.unit, units: self.units + behind.units, dirty, stamp }
    }
}

/// Runs of 1 to [`MOST_UNITS`] units. It does not move while there are any. All zero bytes: none.
pub struct FreeRuns {
    /// By length, the newest first.
    sorts: [List<BySort>; MOST_UNITS + 1],
    /// The lengths of which there are runs.
    used: u128,
    /// All of them, the oldest first.
    ages: List<ByTime>,
    bytes: usize,
    /// Number of runs,
    len: usize,
    /// and how many were added since neighbours were last joined.
    unjoined: usize,
}

impl FreeRuns {
    /// No runs.
    pub const fn new() -> FreeRuns {
        FreeRuns {
            sorts: [const { List::new() }; MOST_UNITS + 1],
            used: 0,
            ages: List::new(),
            bytes: 0,
            len: 0,
            unjoined: 0,
        }
    }

    /// Bytes of all runs together.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The newest of the shortest runs that have at least `units` units.
    pub fn shortest(&self, units: usize) -> Option<FreeRun> {
        let fitting = if units > MOST_UNITS { 0 } else { self.used & (!0 << units) };
        if fitting == 0 {
            return None;
        }
        // SAFETY: there are runs of this length.
        Some(unsafe { FreeRuns::read(self.sorts[fitting.trailing_zeros() as usize].first()) })
    }

    /// The run that was added first.
    pub fn oldest(&self) -> Option<FreeRun> {
        let unit = self.ages.first();
        // SAFETY: a listed run.
        (!unit.is_none()).then(|| unsafe { FreeRuns::read(unit) })
    }

    /// The run described by the record of a listed run.
    unsafe fn read(unit: Unit) -> FreeRun {
        let span = MAP.span(unit);
        // SAFETY: a listed run is the heap's.
        unsafe {
            let (units, run) = ((*span).units as usize, *Span::run(span));
            FreeRun { unit, units, dirty: run.dirty_units as usize, stamp: run.stamp }
        }
    }

    /// Adds a run.
    ///
    /// # Safety
    /// The run is the heap's, of [`MOST_UNITS`] at most, and not listed.
    pub unsafe fn add(&mut self, run: FreeRun) {
        // SAFETY: the caller's contract.
        unsafe {
            (*MAP.span(run.unit)).owner.store(self.tag(), Relaxed);
            self.list(run);
            self.ages.push_back(run.unit);
        }
        self.len += 1;
        self.unjoined += 1;
    }

    /// Removes a run.
    ///
    /// # Safety
    /// The run is listed.
    pub unsafe fn remove(&mut self, run: FreeRun) {
        // SAFETY: the caller's contract.
        unsafe {
            (*MAP.span(run.unit)).owner.store(ptr::null_mut(), Relaxed);
            self.unlist(run);
            self.ages.remove(run.unit);
        }
        self.len -= 1;
    }

    /// Joins neighbours, unless the whole is too long; only if it may be worth it, because a quarter of
    /// all runs are new.
    #[cold]
    pub fn join(&mut self) {
        if self.unjoined * 4 < self.len {
            return;
        }
        self.unjoined = 0;
        let mut unit = self.ages.first();
        while !unit.is_none() {
            // SAFETY: a listed run, and it stays so.
            unsafe {
                while self.join_behind(unit) {}
                unit = List::<ByTime>::after(unit);
            }
        }
    }

    /// Joins a run with the one after it, which leaves the lists. False when there is none, or the whole would be
    /// too long.
    unsafe fn join_behind(&mut self, unit: Unit) -> bool {
        // SAFETY: the caller's run is listed; a tagged unit begins a listed run.
        unsafe {
            let run = FreeRuns::read(unit);
            let next = unit + run.units;
            if next.index() >= MAP.limit() || !self.is_tagged(next) {
                return false;
            }
            let behind = FreeRuns::read(next);
            if run.units + behind.units > MOST_UNITS {
                return false;
            }
            self.remove(behind);
            self.unlist(run);
            self.list(run.joined(behind));
            true
        }
    }

    fn tag(&self) -> *mut () {
        ptr::from_ref(self).cast_mut().cast()
    }

    /// True when a unit below the map's limit begins one of these runs.
    fn is_tagged(&self, unit: Unit) -> bool {
        // SAFETY: records below the limit are committed; the word is atomic.
        unsafe { (*MAP.span(unit)).owner.load(Relaxed) == self.tag() }
    }

    /// Lists a run by its length.
    unsafe fn list(&mut self, run: FreeRun) {
        let FreeRun { unit, units, dirty, stamp } = run;
        // SAFETY: the caller's run is the heap's, and in no list of a length.
        unsafe {
            let span = MAP.span(unit);
            (*span).units = units as u32;
            let record = Span::run(span);
            (*record).stamp = stamp;
            (*record).dirty_units = dirty as u32;
            self.sorts[units].push_front(unit);
        }
        self.used |= 1 << units;
        self.bytes += units * UNIT;
    }

    unsafe fn unlist(&mut self, run: FreeRun) {
        let sort = &mut self.sorts[run.units];
        // SAFETY: the caller's run is in the list of its length.
        unsafe { sort.remove(run.unit) };
        if sort.is_empty() {
            self.used &= !(1 << run.units);
        }
        self.bytes -= run.units * UNIT;
    }
}
