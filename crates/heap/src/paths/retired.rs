//! Addresses of large blocks that were freed, in the hardened build: without memory, closed, and not used again
//! before many others have been freed. Who touches one through a stale pointer is stopped by the processor.
//!
//! ```text
//!   free ─▶ queue: 1,024 spans or 4 GiB ─▶ rested: still closed ─▶ the next large block of that length
//!                                            └▶ when they are too many, opened and back to the source
//! ```
//! A block that comes to lie in a rested span opens its own pages, and what lies around them is closed already: one
//! system call instead of three.

use crate::base::layout::{UNIT_SHIFT, Unit};
use crate::base::settings;
use crate::map::bin::FREE;
use crate::map::record::Kind;
use crate::map::span_map::MAP;
use crate::paths::closed::Closed;
use crate::source::SOURCE;
use allod_os::lock::Lock;
use allod_os::vm;
use core::cell::UnsafeCell;

/// The most spans retired at the same time,
const MOST: usize = 1024;
/// and the most units in all of them together (4 GiB of addresses),
const MOST_UNITS: usize = 4 << (30 - UNIT_SHIFT);
/// or, where addresses are scarce, 16 MiB.
const MOST_UNITS_WHERE_SCARCE: usize = 16 << (20 - UNIT_SHIFT);

/// Spans that have rested at once, where addresses are not scarce.
const MOST_RESTED: usize = 512;

/// A span, its units, and how it was closed. No units are no span.
type Resting = (Unit, u32, Closed);
const NOTHING: Resting = (Unit::NONE, 0, Closed::Not);

struct Queue {
    spans: [Resting; MOST],
    first: usize,
    len: usize,
    units: usize,
    rested: Rested,
}

/// Spans that may be used again.
struct Rested {
    spans: [Resting; MOST_RESTED],
    /// Whose place the next one takes.
    next: usize,
}

/// The queue, and the lock that guards it: it is only ever tried, so nobody waits, not even in a forked child.
struct Retired(Lock, UnsafeCell<Queue>);

// SAFETY: the queue is touched only with the lock held.
unsafe impl Sync for Retired {}

static RETIRED: Retired = Retired(
    Lock::new(),
    UnsafeCell::new(Queue {
        spans: [NOTHING; MOST],
        first: 0,
        len: 0,
        units: 0,
        rested: Rested { spans: [NOTHING; MOST_RESTED], next: 0 },
    }),
);

impl Queue {
    fn is_over(&self, most_units: usize) -> bool {
        self.len == MOST || self.len > 0 && self.units > most_units
    }

    fn pop(&mut self) -> Resting {
        let span = self.spans[self.first];
        self.first = (self.first + 1) % MOST;
        self.len -= 1;
        self.units -= span.1 as usize;
        span
    }

    fn push(&mut self, span: Resting) {
        self.spans[(self.first + self.len) % MOST] = span;
        self.len += 1;
        self.units += span.1 as usize;
    }
}

impl Rested {
    /// Takes a span in, and returns the one whose place it takes.
    fn swap(&mut self, span: Resting) -> Resting {
        self.next = (self.next + 1) % MOST_RESTED;
        core::mem::replace(&mut self.spans[self.next], span)
    }

    /// The span that wastes the least of those that waste no more than an eighth.
    fn take(&mut self, units: usize) -> Option<Resting> {
        let fits = |span: &&mut Resting| (units..=units + units / 8).contains(&(span.1 as usize));
        let best = self.spans.iter_mut().filter(fits).min_by_key(|span| span.1)?;
        Some(core::mem::replace(best, NOTHING))
    }
}

/// A span of at least `units` units that has rested: all of it is closed, and what is opened of it reads as zero.
/// It is a large block's again.
pub fn reuse(units: usize) -> Option<(Unit, usize, Closed)> {
    let held = RETIRED.0.try_enter()?;
    // SAFETY: the lock is held.
    let (unit, units, closed) = unsafe { (*RETIRED.1.get()).rested.take(units)? };
    drop(held);
    let units = units as usize;
    SOURCE.count_room(-(units as isize));
    // SAFETY: the span is in no list any more.
    unsafe { (*MAP.span(unit)).set_kind(Kind::Large) };
    Some((unit, units, closed))
}

/// Gives the memory of a large block's span to the system, and retires its addresses.
///
/// # Safety
/// The span is the caller's, and nobody uses it; what of it is closed was `closed` so.
pub unsafe fn retire(unit: Unit, units: usize, closed: Closed) {
    let roomy = SOURCE.is_roomy();
    let most = if roomy { MOST_UNITS } else { MOST_UNITS_WHERE_SCARCE };
    // SAFETY: the caller's contract; what comes out of the queue is the caller's as well.
    unsafe {
        MAP.enter(unit, units, FREE.entry());
        (*MAP.span(unit)).set_kind(Kind::Free);
        let closed = closed.abandon(MAP.address_of(unit), units << UNIT_SHIFT, roomy);
        if closed == Closed::Not {
            return bring_back(unit, units);
        }
        SOURCE.count_room(units as isize);
        let mut next = (unit, units as u32, closed);
        loop {
            let Some(held) = RETIRED.0.try_enter() else {
                SOURCE.count_room(-(next.1 as isize));
                return bring_back(next.0, next.1 as usize);
            };
            let queue = &mut *RETIRED.1.get();
            if next.1 > 0 && queue.len < MOST {
                queue.push(core::mem::replace(&mut next, NOTHING));
            }
            if !queue.is_over(most) {
                return;
            }
            let mut old = queue.pop();
            if next.1 > 0 {
                queue.push(core::mem::replace(&mut next, NOTHING));
            }
            if roomy {
                old = queue.rested.swap(old);
            }
            drop(held);
            if old.1 > 0 {
                SOURCE.count_room(-(old.1 as isize));
                bring_back(old.0, old.1 as usize);
            }
        }
    }
}

/// Opens a span's addresses, with fresh memory behind them, and returns it to the source.
///
/// # Safety
/// The span is the caller's, of a large block, and nobody uses it any more.
pub unsafe fn bring_back(unit: Unit, units: usize) {
    // SAFETY: the span is the caller's, and nobody uses it. Without fresh memory its addresses are lost.
    unsafe {
        if vm::renew(MAP.address_of(unit), units << UNIT_SHIFT) {
            SOURCE.give(unit, units, Kind::Large, true, settings::now());
        }
    }
}
