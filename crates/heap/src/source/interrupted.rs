//! What the source does for a thread that was interrupted with the source's lock held, or while it opened units: in a
//! signal handler, in a forked child at least. What the lock guards is in the middle of a change then.
//!
//! The thread gets what it has freed since, or **spare** units, which the window begins with. What it frees
//! [waits](super::waiting). Both are counted when the lock is taken the next time, since the interrupted code may be
//! in the middle of counting.

use crate::base::layout::{UNIT_SHIFT, Unit};
use crate::map::bin::FREE;
use crate::map::record::Kind;
use crate::map::span_map::MAP;
use crate::source::frontier;
use crate::source::runs::Taken;
use crate::source::waiting::Waiting;
use core::sync::atomic::{
    AtomicBool, AtomicIsize, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

/// What is done without the lock.
pub struct Aside {
    /// Spare units handed out.
    pub spare: AtomicUsize,
    pub(super) waiting: Waiting,
    /// Units by kind of span that were handed out, minus those that came back, and are not counted yet.
    uncounted: [AtomicIsize; Kind::COUNT],
    /// True when there are any.
    behind: AtomicBool,
}

impl Aside {
    /// Nothing yet.
    pub const fn new() -> Aside {
        Aside {
            spare: AtomicUsize::new(0),
            waiting: Waiting::new(),
            uncounted: [const { AtomicIsize::new(0) }; Kind::COUNT],
            behind: AtomicBool::new(false),
        }
    }

    /// True when something waits to be filed or counted. A hint.
    #[inline]
    pub fn is_behind(&self) -> bool {
        self.behind.load(Relaxed) || !self.waiting.is_empty()
    }

    fn count(&self, kind: Kind, units: isize) {
        self.uncounted[kind as usize].fetch_add(units, Relaxed);
        self.behind.store(true, Release);
    }

    /// Takes out what is to be counted, by kind.
    pub(super) fn take_uncounted(&self) -> [isize; Kind::COUNT] {
        self.behind.swap(false, Acquire);
        core::array::from_fn(|kind| self.uncounted[kind].swap(0, Relaxed))
    }

    /// Takes spare units, after those that `ahead` says are to be skipped.
    fn take_spare(&self, units: usize, ahead: impl Fn(Unit) -> usize) -> Option<Unit> {
        // Unit 0 is nobody's.
        let first = |taken: usize| Unit::new(1 + taken);
        let take = |taken: usize| {
            let end = taken + ahead(first(taken)) + units;
            (end < frontier::spare_units()).then_some(end)
        };
        let first = first(self.spare.fetch_update(Relaxed, Relaxed, take).ok()?);
        let skipped = ahead(first);
        if skipped > 0 {
            // SAFETY: the units were taken with the others, and are free.
            unsafe {
                MAP.enter(first, skipped, FREE.entry());
                self.waiting.push(first, skipped);
            }
        }
        Some(first + skipped)
    }

    /// Takes units for a span of some kind, starting at a multiple of `align` units.
    pub(super) fn take(&self, units: usize, align: usize, kind: Kind) -> Option<Taken> {
        let ahead = |unit: Unit| {
            let address = MAP.address_of(unit);
            (address.next_multiple_of(align << UNIT_SHIFT) - address) >> UNIT_SHIFT
        };
        let again = self.waiting.take(units, ahead);
        let unit = again.or_else(|| self.take_spare(units, ahead))?;
        self.count(kind, units as isize);
        Some(Taken { unit, clean: again.is_none() })
    }

    /// Keeps units of a span of some kind until they can be filed.
    ///
    /// # Safety
    /// The units are free, nobody's, and in no list.
    pub(super) unsafe fn give(&self, unit: Unit, units: usize, kind: Kind) {
        // SAFETY: the caller's contract.
        unsafe { self.waiting.push(unit, units) };
        self.count(kind, -(units as isize));
    }
}
