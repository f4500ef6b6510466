//! Addresses of freed large blocks, in the hardened build: without memory, inaccessible, and not used again
//! before many others have been freed. An access through a stale pointer faults.

use crate::base::layout::{UNIT_SHIFT, Unit};
use crate::base::settings;
use crate::map::bin::FREE;
use crate::map::record::Kind;
use crate::map::span_map::MAP;
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

struct Queue {
    spans: [(Unit, u32); MOST],
    first: usize,
    len: usize,
    units: usize,
}

/// The queue, and the lock that guards it: it is only ever tried, so nobody waits, not even in a forked child.
struct Retired(Lock, UnsafeCell<Queue>);

// SAFETY: the queue is touched only with the lock held.
unsafe impl Sync for Retired {}

static RETIRED: Retired = Retired(
    Lock::new(),
    UnsafeCell::new(Queue { spans: [(Unit::NONE, 0); MOST], first: 0, len: 0, units: 0 }),
);

impl Queue {
    fn is_over(&self, most_units: usize) -> bool {
        self.len == MOST || self.len > 0 && self.units > most_units
    }

    fn pop(&mut self) -> (Unit, usize) {
        let (unit, units) = self.spans[self.first];
        self.first = (self.first + 1) % MOST;
        self.len -= 1;
        self.units -= units as usize;
        (unit, units as usize)
    }

    fn push(&mut self, unit: Unit, units: usize) {
        self.spans[(self.first + self.len) % MOST] = (unit, units as u32);
        self.len += 1;
        self.units += units;
    }
}

/// Gives the memory of a large block's span to the system, and retires its addresses.
///
/// # Safety
/// The span is the caller's, and nobody uses it any more.
pub unsafe fn retire(unit: Unit, units: usize) {
    let most = if SOURCE.is_roomy() { MOST_UNITS } else { MOST_UNITS_WHERE_SCARCE };
    // SAFETY: the caller's contract; what comes out of the queue is the caller's as well.
    unsafe {
        MAP.enter(unit, units, FREE.entry());
        (*MAP.span(unit)).set_kind(Kind::Free);
        if !vm::retire(MAP.address_of(unit), units << UNIT_SHIFT) {
            return bring_back(unit, units);
        }
        SOURCE.count_room(units as isize);
        let mut next = (unit, units);
        loop {
            let Some(held) = RETIRED.0.try_enter() else {
                SOURCE.count_room(-(next.1 as isize));
                return bring_back(next.0, next.1);
            };
            let queue = &mut *RETIRED.1.get();
            if next.1 > 0 && queue.len < MOST {
                queue.push(next.0, next.1);
                next = (Unit::NONE, 0);
            }
            if !queue.is_over(most) {
                return;
            }
            let (old, old_units) = queue.pop();
            if next.1 > 0 {
                queue.push(next.0, next.1);
                next = (Unit::NONE, 0);
            }
            drop(held);
            SOURCE.count_room(-(old_units as isize));
            bring_back(old, old_units);
        }
    }
}

/// Opens a span's addresses, with fresh memory behind them, and returns it to the source.
unsafe fn bring_back(unit: Unit, units: usize) {
    // SAFETY: the span is the caller's, and nobody uses it. Without fresh memory its addresses are lost.
    unsafe {
        if vm::renew(MAP.address_of(unit), units << UNIT_SHIFT) {
            SOURCE.give(unit, units, Kind::Large, true, settings::now());
        }
    }
}
