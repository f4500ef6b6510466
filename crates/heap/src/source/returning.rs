//! How free memory goes back to the system: the oldest first, piece by piece, without the lock.

use crate::base::layout::{PIECE, UNIT};
use crate::base::settings;
use crate::map::span_map::MAP;
use crate::source::huge;
use crate::source::runs::Known;
use crate::source::source::{Source, State};
use allod_os::vm;
use core::sync::atomic::Ordering::Relaxed;

/// For how long nothing is given back after the system has refused to take it, in milliseconds.
const REFUSED_FOR: u32 = 60_000;
/// Refusals in a row after which that is so.
const MOST_REFUSALS: u32 = 16;

impl Source {
    /// Gives the pages of the oldest dirty run, a piece of it (2 MiB, of runs
    /// above 128 MiB a 64th), back to the system when
    /// it is older than `delay` milliseconds, or puts that off for a part of a huge page. Returns the bytes
    /// given back, or `None` when there is nothing (yet) to do.
    pub fn purge_oldest(&self, now: u32, delay: u32) -> Option<usize> {
        let (place, unit, units) = {
            let mut locked = self.enter()?;
            let state = locked.state();
            let (unit, run) = state.runs.oldest()?;
            if (now.wrapping_sub(run.stamp) as i32) < delay as i32 || state.is_refused(now) {
                return None;
            }
            let place = state.purging.place()?;
            // To the end of a huge page; of a run of GiBs, which was hardly touched, a larger part.
            let most = (run.units / 64).next_multiple_of(PIECE).max(PIECE);
            let units = run.units.min(most - unit.index() % PIECE);
            state.runs.take_at(unit, units)?;
            if delay > 0 && !run.spared && huge::is_spared(unit, units) {
                let stamp = now.wrapping_add(delay * (huge::PATIENCE - 1));
                locked.file_as(unit, Known { units, clean: false, stamp, spared: true });
                return Some(0);
            }
            state.purging.begin(place, unit, units);
            self.show_dirty(locked.state().runs.dirty_units());
            (place, unit, units)
        };
        // SAFETY: the piece is in no list, so nobody else touches it.
        let done = unsafe { vm::purge(MAP.address_of(unit), units * UNIT) };
        huge::forget(unit, units);
        if let Some(mut locked) = self.enter() {
            let state = locked.state();
            state.purging.end(place);
            // Locked pages cannot be purged; counting them clean would hand out old contents. They
            // are not tried again for long, and after several none is.
            state.refusals = if done { 0 } else { state.refusals + 1 };
            let later = now.wrapping_add(REFUSED_FOR);
            state.refused_until = (state.refusals >= MOST_REFUSALS).then_some(later);
            locked.file(unit, units, done, if done { now } else { later });
        }
        if !done {
            return Some(0);
        }
        self.count_purge(units * UNIT);
        Some(units * UNIT)
    }

    /// Gives all dirty runs back: they join clean ones, and may be long enough then.
    pub fn purge_all(&self) {
        let now = settings::now();
        while self.purge_oldest(now, 0).is_some() {}
    }

    /// True while dirty runs wait for their decay.
    pub fn has_dirty(&self) -> bool {
        self.stats.dirty_units.load(Relaxed) > 0
            && self.enter().is_some_and(|mut locked| !locked.state().is_refused(settings::now()))
    }
}

impl State {
    fn is_refused(&mut self, now: u32) -> bool {
        let refused = self.refused_until.is_some_and(|until| (until.wrapping_sub(now) as i32) > 0);
        if !refused {
            self.refused_until = None;
        }
        refused
    }
}
