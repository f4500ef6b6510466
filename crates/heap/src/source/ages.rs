//! Dirty runs by age: the oldest is given back first.
//!
//! A run keeps its place when something is cut from it. Runs freed within a short **window** of each
//! other are joined and take the older one's place, so that none is kept long beyond the decay and none
//! is given back long before it. Runs further apart in age stay separate although they touch: memory in
//! constant use next to an old run neither keeps it young nor ages with it.
//!
//! Runs that the system has refused to take (locked pages) are listed separately, so that they do not hold up
//! the others.

use crate::base::layout::Unit;
use crate::base::list::List;
use crate::map::record::{ByTime, Span};
use crate::map::span_map::MAP;

/// Dirty runs, the oldest first.
pub struct Ages {
    usual: List<ByTime>,
    /// Those that the system has refused; not tried before their stamps.
    refused: List<ByTime>,
}

/// The most runs that are examined to find a new one's place.
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
        Ages { usual: List::new(), refused: List::new() }
    }

    /// The oldest run; before it one that was refused, if it is time to try that again.
    pub fn oldest(&self, now: u32) -> Option<Unit> {
        let refused = self.refused.first();
        // SAFETY: listed runs have valid records under the source's lock.
        let is_due =
            !refused.is_none() && unsafe { !before(now, (*Span::run(MAP.span(refused))).stamp) };
        let unit = if is_due { refused } else { self.usual.first() };
        (!unit.is_none()).then_some(unit)
    }

    fn of(&mut self, refused: bool) -> &mut List<ByTime> {
        if refused { &mut self.refused } else { &mut self.usual }
    }

    /// The list that a run is in, as its record says.
    unsafe fn with(&mut self, unit: Unit) -> &mut List<ByTime> {
        // SAFETY: listed runs have valid records under the source's lock.
        self.of(unsafe { (*Span::run(MAP.span(unit))).refused })
    }

    /// Adds a run freed at `stamp`, or refused until then: after all others, except for a few that are not due
    /// before it.
    ///
    /// # Safety
    /// The run is the caller's under the source's lock, and not listed.
    pub unsafe fn add(&mut self, unit: Unit, stamp: u32, refused: bool) {
        let list = self.of(refused);
        let mut place = list.last();
        // SAFETY: the caller's contract; listed runs have valid records under the source's lock.
        unsafe {
            for _ in 0..STEPS {
                if place.is_none() || !before(stamp, (*Span::run(MAP.span(place))).stamp) {
                    break;
                }
                place = List::<ByTime>::before(place);
            }
            match place {
                Unit::NONE => list.push_front(unit),
                place => list.insert_after(place, unit),
            }
        }
    }

    /// Adds a run that is as old as another.
    ///
    /// # Safety
    /// As for [`add`](Ages::add); `twin` is listed.
    pub unsafe fn add_beside(&mut self, twin: Unit, unit: Unit) {
        // SAFETY: the caller's contract.
        unsafe { self.with(twin).insert_after(twin, unit) };
    }

    /// Gives a run the place of another.
    ///
    /// # Safety
    /// `old` is listed; `new` is `old`, or the caller's and not listed.
    pub unsafe fn replace(&mut self, old: Unit, new: Unit) {
        // SAFETY: the caller's contract.
        unsafe { self.with(old).replace(old, new) };
    }

    /// Takes a run out.
    ///
    /// # Safety
    /// The run is listed.
    pub unsafe fn remove(&mut self, unit: Unit) {
        // SAFETY: the caller's contract.
        unsafe { self.with(unit).remove(unit) };
    }
}
