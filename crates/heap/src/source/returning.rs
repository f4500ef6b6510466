//! How free memory goes back to the system: the oldest first, piece by piece, without the lock.

use crate::base::layout::{PIECE, UNIT};
use crate::base::settings;
use crate::map::span_map::MAP;
use crate::source::huge;
use crate::source::runs::Known;
use crate::source::source::{Source, State};
use allod_os::{thread::pause, vm};
use core::sync::atomic::Ordering::Relaxed;

/// For how long nothing is given back after the system has refused to take it, in milliseconds.
const REFUSED_FOR: u32 = 60_000;
/// Refusals in a row after which that happens.
const MOST_REFUSALS: u32 = 16;

/// How often a thread that needs memory at once waits for what others are giving back,
const ROUNDS: usize = 4;
/// and how long at most each time, in milliseconds: one of them may have been stopped in the middle.
const WAIT_AT_MOST: usize = 50;

impl Source {
    /// Gives a piece of the oldest dirty run (2 MiB, or a sixty-fourth of a run above 128 MiB) back to the system
    /// if the run is older than `delay` milliseconds, or postpones that for a part of a huge page. With a delay of 0
    /// nothing is postponed, and only what the system has just refused is left alone. Returns the bytes
    /// given back, or `None` when there is nothing to do (yet).
    pub fn purge_oldest(&self, now: u32, delay: u32) -> Option<usize> {
        let (place, unit, units) = {
            let mut locked = self.enter()?;
            let state = locked.state();
            let (unit, run) = state.runs.oldest(now)?;
            // One that was refused comes first when its time has come.
            let is_young = !run.refused && (now.wrapping_sub(run.stamp) as i32) < delay as i32;
            if delay > 0 && (is_young || state.is_refused(now)) {
                return None;
            }
            let place = state.purging.place()?;
            // Up to the end of a huge page; a larger part of a run of GiBs, most of which was probably never touched.
            let most = (run.units / 64).next_multiple_of(PIECE).max(PIECE);
            let units = run.units.min(most - unit.index() % PIECE);
            state.runs.take_at(unit, units)?;
            if delay > 0 && !run.spared && huge::is_spared(unit, units) {
                let stamp = now.wrapping_add(delay * (huge::PATIENCE - 1));
                let spared = Known { spared: true, ..Known::freed(units, false, stamp) };
                locked.file_as(unit, spared);
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
            // are not tried again for a while, and after several refusals nothing is.
            state.refusals = if done { 0 } else { state.refusals + 1 };
            let later = now.wrapping_add(REFUSED_FOR);
            state.refused_until = (state.refusals >= MOST_REFUSALS).then_some(later);
            let stamp = if done { now } else { later };
            locked.file_as(unit, Known { refused: !done, ..Known::freed(units, done, stamp) });
        }
        if !done {
            return Some(0);
        }
        self.count_purge(units * UNIT);
        Some(units * UNIT)
    }

    /// Gives all dirty runs back: they join clean ones, and may then be long enough. When this ends, what other
    /// threads were giving back has joined them, too. Returns the bytes given back. It ends even if other threads
    /// keep freeing memory meanwhile.
    pub fn purge_all(&self) -> usize {
        let now = settings::now();
        let most = self.stats.dirty_units.load(Relaxed) * UNIT;
        let mut bytes = 0;
        for _ in 0..ROUNDS {
            while bytes < most
                && let Some(more) = self.purge_oldest(now, 0)
            {
                bytes += more;
            }
            if !self.wait_for_others() {
                break;
            }
        }
        bytes
    }

    /// Waits for other threads that are giving something back now. False when there was none.
    fn wait_for_others(&self) -> bool {
        // They need the lock to finish.
        if self.lock.is_lent_here() {
            return false;
        }
        let under_way = |number: Option<u32>| {
            let mut locked = self.enter()?;
            let purging = &locked.state().purging;
            let number = number.unwrap_or(purging.last());
            purging.others_until(number).then_some(number)
        };
        let Some(last) = under_way(None) else { return false };
        for _ in 0..WAIT_AT_MOST {
            pause(1);
            if under_way(Some(last)).is_none() {
                break;
            }
        }
        true
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
