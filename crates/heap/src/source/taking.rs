//! How units leave the source: resident ones first, then clean ones, then new ones from the frontier.

use crate::base::layout::{PIECE, Unit};
use crate::base::settings;
use crate::map::record::Kind;
use crate::map::span_map::MAP;
use crate::source::density::are_dense;
use crate::source::huge::{self, Answer, Need, Plan};
use crate::source::opener::Turn;
use crate::source::runs::Taken;
use crate::source::source::{Free, Locked, Source};
use core::sync::atomic::Ordering::Relaxed;

/// Units opened at once at the frontier.
const STEP: usize = 16;

/// Whether units could be opened.
enum Grown {
    Yes,
    No,
    /// The calling thread was interrupted while it opened units itself, or must not wait for the thread that does.
    Reentered,
}

/// Writes the kind into a new span's record.
fn hand_out(taken: Taken, units: usize, kind: Kind) -> Free {
    let span = MAP.span(taken.unit);
    // SAFETY: the run is ours until somebody enters it in the map.
    unsafe {
        (*span).units = units as u32;
        (*span).start = MAP.address_of(taken.unit);
        (*span).set_kind(kind);
    }
    taken
}

impl Locked<'_> {
    /// Takes units that are free, resident ones first. `None` while huge pages should be made for them first,
    /// unless it is told to look everywhere.
    fn find(&mut self, need: Need, align: usize, everywhere: bool) -> Option<Taken> {
        let units = need.units;
        let held = self.source.held_units();
        let state = self.state();
        if !everywhere && align == 1 && huge::serve(need, held) {
            if let Some(taken) = state.runs.take_dirty(units) {
                return Some(taken);
            }
            if state.policy.is_due(need, held, settings::now()) {
                return None;
            }
        }
        state.runs.look_everywhere(everywhere);
        let taken = state.runs.take(units, align)?;
        if taken.clean {
            state.policy.note_small(taken.unit, units);
        }
        Some(taken)
    }

    /// Writes the kind into the record of a run that was taken out.
    fn hand_out(&mut self, taken: Taken, units: usize, kind: Kind) -> Free {
        self.source.count(kind, units as isize);
        self.source.show_dirty(self.state().runs.dirty_units());
        hand_out(taken, units, kind)
    }
}

impl Source {
    /// Takes `units` units for a span of some kind, starting at a multiple of `align` units. `None`
    /// when memory is out. The span's record says kind, length and start then; the map does not yet.
    pub fn take(&self, units: usize, align: usize, kind: Kind) -> Option<Free> {
        let want = units.checked_add(align - 1)?;
        let find =
            |locked: &mut Locked<'_>, everywhere| locked.find(Need::any(units), align, everywhere);
        self.take_by(units, kind, find, || self.add(Need::any(want)))
            .or_else(|| self.take_aside(units, align, kind))
    }

    /// Like [`take`](Source::take), but only what is free already: opens nothing and gives nothing back,
    /// so that no system call is made. With `everywhere` a run that fits is found wherever it lies.
    pub fn take_ready(&self, need: Need, kind: Kind, everywhere: bool) -> Option<Free> {
        self.prepare();
        let units = need.units;
        let ready = |mut locked: Locked<'_>| {
            let taken = locked.find(need, 1, everywhere)?;
            Some(locked.hand_out(taken, units, kind))
        };
        self.enter().and_then(ready).or_else(|| self.take_aside(units, 1, kind))
    }

    /// Like [`take`](Source::take), but never pages that are resident: for a destination to which
    /// pages are moved.
    pub fn take_clean(&self, units: usize, kind: Kind) -> Option<Free> {
        let find = |locked: &mut Locked<'_>, everywhere| {
            locked.state().runs.look_everywhere(everywhere);
            locked.state().runs.take_clean(units)
        };
        self.take_by(units, kind, find, || self.grow(units))
    }

    /// Like [`take`](Source::take), but resident pages only, where there are enough in one run.
    #[cfg(not(feature = "hardened"))]
    pub fn take_dirty(&self, units: usize, kind: Kind) -> Option<Free> {
        let mut locked = self.enter()?;
        let taken = locked.state().runs.take_dirty(units)?;
        Some(locked.hand_out(taken, units, kind))
    }

    /// Takes units with `find`; if that finds none, gets more with `more` and tries again. `find`'s argument says
    /// whether to look everywhere, because memory is out.
    fn take_by(
        &self,
        units: usize,
        kind: Kind,
        find: impl Fn(&mut Locked<'_>, bool) -> Option<Taken>,
        more: impl Fn() -> Grown,
    ) -> Option<Free> {
        self.prepare();
        let mut exhausted = false;
        loop {
            let mut locked = self.enter()?;
            if let Some(taken) = find(&mut locked, exhausted) {
                return Some(locked.hand_out(taken, units, kind));
            }
            drop(locked);
            match more() {
                Grown::Yes => {}
                Grown::No if !exhausted => {
                    self.purge_all();
                    exhausted = true;
                }
                Grown::No | Grown::Reentered => return None,
            }
        }
    }

    /// Makes more units available for a span: makes huge pages if that is the
    /// policy, else opens at least as many as it needs, or waits until another thread has. False when the
    /// system refuses, or the window ends, or the calling thread was interrupted while it did so.
    pub fn open_more(&self, need: Need) -> bool {
        matches!(self.add(need), Grown::Yes)
    }

    fn add(&self, need: Need) -> Grown {
        match self.add_huge(need) {
            Some(grown) => grown,
            None => self.grow(need.units),
        }
    }

    /// Makes huge pages for a span, or finds out that there should be none (yes, too: it may
    /// take small pages now). `None` where that is known.
    fn add_huge(&self, need: Need) -> Option<Grown> {
        let held = self.held_units();
        if !huge::serve(need, held) {
            return None;
        }
        let mut locked = self.enter()?;
        let state = locked.state();
        match state.policy.plan(need, held, settings::now()) {
            Plan::Small => None,
            Plan::Look(samples) => {
                drop(locked);
                let dense = are_dense(&samples);
                self.enter()?.state().policy.looked(dense, held);
                Some(Grown::Yes)
            }
            Plan::Ask => {
                let whole = need.units.next_multiple_of(PIECE);
                let Some(place) = state.purging.place() else {
                    state.policy.pass_over();
                    return Some(Grown::Yes);
                };
                if let Some(pieces) = state.runs.take_pieces(whole) {
                    state.purging.begin(place, pieces.unit, whole);
                    drop(locked);
                    self.make_huge(pieces.unit, whole, place);
                    return Some(Grown::Yes);
                }
                drop(locked);
                if matches!(self.grow(whole + PIECE - 1), Grown::Yes) {
                    return Some(Grown::Yes);
                }
                // There may still be room for small pages.
                self.enter()?.state().policy.asked(Answer::Declined, settings::now());
                None
            }
        }
    }

    /// Makes pieces huge pages, without the lock, and files them as resident. They are in flight in
    /// `place`.
    fn make_huge(&self, unit: Unit, units: usize, place: usize) {
        let mut answers = [Answer::Declined; huge::MOST_UNITS / PIECE];
        let mut tried = 0;
        while tried * PIECE < units {
            // SAFETY: the pieces are in no list, so nobody else touches them, and were clean.
            answers[tried] = unsafe { huge::make(unit + tried * PIECE) };
            tried += 1;
            if answers[tried - 1] == Answer::Declined {
                break;
            }
        }
        let Some(mut locked) = self.enter() else { return };
        let now = settings::now();
        locked.state().purging.end(place);
        for (piece, &answer) in answers[..tried].iter().enumerate() {
            locked.state().policy.asked(answer, now);
            if answer != Answer::Declined {
                huge::set_huge(unit + piece * PIECE, true);
                self.stats.huge_pages.fetch_add(1, Relaxed);
            }
        }
        let resident = tried * PIECE;
        locked.file(unit, resident, false, now);
        if resident < units {
            locked.file(unit + resident, units - resident, true, now);
        }
    }

    /// Opens units, at least `want` of them, or waits until another thread has opened some.
    #[cold]
    fn grow(&self, want: usize) -> Grown {
        match self.opener.begin(!self.lock.is_lent_here()) {
            Turn::Mine => {}
            Turn::Waited => return Grown::Yes,
            Turn::Reentered | Turn::Taken => return Grown::Reentered,
        }
        let grown = match self.open(want.next_multiple_of(STEP)) {
            Grown::No => self.open(want),
            grown => grown,
        };
        self.opener.end();
        grown
    }

    /// Opens `count` units. For the thread whose turn it is.
    fn open(&self, count: usize) -> Grown {
        let Some(mut locked) = self.enter() else { return Grown::Reentered };
        let Some(opening) = locked.state().frontier.begin(count) else { return Grown::No };
        drop(locked);
        let opened = opening.carry_out();
        let Some(mut locked) = self.enter() else { return Grown::Reentered };
        locked.state().frontier.finish(&opened);
        let Some((unit, units)) = opened.fresh else { return Grown::No };
        locked.file(unit, units, true, 0);
        Grown::Yes
    }

    /// Units for a thread that was interrupted in the source.
    #[cold]
    fn take_aside(&self, units: usize, align: usize, kind: Kind) -> Option<Free> {
        let taken = if self.is_aside() { self.aside.take(units, align, kind) } else { None };
        taken.map(|taken| hand_out(taken, units, kind))
    }

    /// Grows a span of some kind in place from `old` to `new` units if what follows it is free.
    /// Says then whether every byte of what was added reads as zero.
    ///
    /// # Safety
    /// The caller owns the span and enters the added units in the map.
    #[cfg(not(feature = "hardened"))]
    pub unsafe fn extend(&self, unit: Unit, old: usize, new: usize, kind: Kind) -> Option<bool> {
        let after = unit + old;
        let missing = new - old;
        if after.index() >= MAP.limit() && !matches!(self.grow(missing), Grown::Yes) {
            return None;
        }
        let mut locked = self.enter()?;
        let clean = locked.state().runs.take_at(after, missing)?;
        self.count(kind, missing as isize);
        self.show_dirty(locked.state().runs.dirty_units());
        // SAFETY: the span is the caller's.
        unsafe { (*MAP.span(unit)).units = new as u32 };
        Some(clean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::layout::UNIT;
    use crate::source::source::SOURCE;

    /// Calls a function as a handler does that interrupted the source.
    fn interrupted<R>(f: impl FnOnce() -> R) -> R {
        SOURCE.prepare();
        let _locked = SOURCE.enter().expect("the lock is free");
        f()
    }

    fn take(units: usize, align: usize) -> Free {
        SOURCE.take(units, align, Kind::Frame).expect("there is memory")
    }

    fn give(unit: Unit, units: usize) {
        // SAFETY: a whole span that was taken, and that nobody uses.
        unsafe { SOURCE.give(unit, units, Kind::Frame, false, 0) };
    }

    fn counted() -> usize {
        drop(SOURCE.enter());
        SOURCE.stats.kind_units[Kind::Frame as usize].load(Relaxed)
    }

    #[test]
    fn spans_have_the_alignment_that_is_asked_for_and_are_counted() {
        let before = counted();
        let spans = interrupted(|| {
            [(1, 1), (3, 32), (2, 1), (1, 16)].map(|(units, align)| {
                let unit = take(units, align).unit;
                assert_eq!(MAP.address_of(unit) % (align * UNIT), 0);
                (unit, units)
            })
        });
        for (i, (unit, units)) in spans.into_iter().enumerate() {
            let others = &spans[i + 1..];
            assert!(
                others.iter().all(|&(other, len)| unit + units <= other || other + len <= unit)
            );
        }
        assert_eq!(counted(), before + 7);
        let [first, rest @ ..] = spans;
        interrupted(|| give(first.0, first.1));
        assert_eq!(counted(), before + 6);
        rest.into_iter().for_each(|(unit, units)| give(unit, units));
        assert_eq!(counted(), before);
    }

    #[test]
    fn what_was_freed_is_taken_again() {
        interrupted(|| {
            for units in (1..40).cycle().take(1000) {
                give(take(units, 1).unit, units);
                give(take(1, 32).unit, 1);
            }
        });
    }
}
