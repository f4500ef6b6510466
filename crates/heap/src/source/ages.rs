//! Dirty runs by age: the oldest is given back first.
//!
//! A run keeps its place when something is cut from it. Runs freed within a short **window** of each
//! other are joined and take the older's place, so that none is kept long beyond the decay and none
//! is given back long before it. Runs further apart in age stay apart, though they touch: what is in
//! constant use beside an old run neither keeps it young nor grows old with it.

use crate::base::layout::Unit;
use crate::base::list::List;
use crate::map::record::{ByTime, Span};
use crate::map::span_map::MAP;

/// Dirty runs, the oldest first.
pub struct Ages(List<ByTime>);

/// Runs that are looked at for a new one's place.
const STEPS: usize = 32;
/// The share of the decay within which two runs count as equally old.
const WINDOWS: u32 = 8;

/// True when runs freed at these times may be joined under this decay.
pub fn close(a: u32, b: u32, decay: u32) -> bool {
    (a.wrapping_sub(b) as i32).unsigned_abs() <= decay / WINDOWS
}

/// True when `a` was before `b`.
pub fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl Ages {
    /// No runs.
    pub const fn new() -> Ages {
        Ages(List::new())
    }

    /// The oldest run.
    pub fn oldest(&self) -> Option<Unit> {
        let unit = self.0.first();
        (!unit.is_none()).then_some(unit)
    }

    /// Adds a run freed at `stamp`: behind all others, but for a few that are not due before it.
    ///
    /// # Safety
    /// The run is the caller's under the source's lock, and not listed.
    pub unsafe fn add(&mut self, unit: Unit, stamp: u32) {
        let mut place = self.0.last();
        // SAFETY: the caller's contract; listed runs have valid records under the source's lock.
        unsafe {
            for _ in 0..STEPS {
                if place.is_none() || !before(stamp, (*Span::run(MAP.span(place))).stamp) {
                    break;
                }
                place = List::<ByTime>::before(place);
            }
            match place {
                Unit::NONE => self.0.push_front(unit),
                place => self.0.insert_after(place, unit),
            }
        }
    }

    /// Adds a run that is as old as another.
    ///
    /// # Safety
    /// As for [`add`](Ages::add); `twin` is listed.
    pub unsafe fn add_beside(&mut self, twin: Unit, unit: Unit) {
        // SAFETY: the caller's contract.
        unsafe { self.0.insert_after(twin, unit) };
    }

    /// Gives a run the place of another.
    ///
    /// # Safety
    /// `old` is listed; `new` is `old`, or the caller's and not listed.
    pub unsafe fn replace(&mut self, old: Unit, new: Unit) {
        // SAFETY: the caller's contract.
        unsafe { self.0.replace(old, new) };
    }

    /// Takes a run out.
    ///
    /// # Safety
    /// The run is listed.
    pub unsafe fn remove(&mut self, unit: Unit) {
        // SAFETY: the caller's contract.
        unsafe { self.0.remove(unit) };
    }
}
