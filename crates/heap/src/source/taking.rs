//! How units leave the source: resident ones first, then clean ones, then new ones from the frontier.

use crate::base::layout::{PIECE, Unit};
use crate::base::settings;
use crate::map::record::Kind;
use crate::map::span_map::MAP;
use crate::source::frontier;
use crate::source::huge::{self, Answer, Plan};
use crate::source::opener::Turn;
use crate::source::runs::{Runs, Taken};
use crate::source::source::{Free, Locked, Source};
use core::sync::atomic::Ordering::Relaxed;

/// Units made known at once at the frontier.
const STEP: usize = 16;
/// Whether units could be opened.
enum Grown {
    Yes,
    No,
    /// The calling thread was interrupted while it opened units itself.
    Reentered,
}

/// Writes into a new span's record what it is for.
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
    /// Writes into the record of a run taken out what it is for.
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
        let mut locked = self.enter();
        if align == 1
            && huge::serve(units, self.stats.used_units.load(Relaxed))
            && let Some(held) = locked.take()
        {
            match self.take_resident(held, units, kind) {
                Ok(free) => return Some(free),
                Err(held) => locked = held,
            }
        }
        self.take_by(locked, units, kind, want, |runs| runs.take(units, align))
            .or_else(|| self.take_spare(units, align, kind))
    }

    /// Like [`take`](Source::take), but never pages that are resident: for a destination to which
    /// pages are moved.
    pub fn take_clean(&self, units: usize, kind: Kind) -> Option<Free> {
        self.take_by(None, units, kind, units, |runs| runs.take_clean(units))
    }

    /// Like [`take`](Source::take), but resident pages only, where there are enough in one run.
    pub fn take_dirty(&self, units: usize, kind: Kind) -> Option<Free> {
        let mut locked = self.enter()?;
        let taken = locked.state().runs.take_dirty(units)?;
        Some(locked.hand_out(taken, units, kind))
    }

    /// Takes units with `find`, opening `want` more where that finds none.
    fn take_by<'a>(
        &'a self,
        mut locked: Option<Locked<'a>>,
        units: usize,
        kind: Kind,
        want: usize,
        find: impl Fn(&mut Runs) -> Option<Taken>,
    ) -> Option<Free> {
        let mut exhausted = false;
        loop {
            let mut locked = locked.take().or_else(|| self.enter())?;
            locked.state().runs.look_everywhere(exhausted);
            if let Some(taken) = find(&mut locked.state().runs) {
                if taken.clean {
                    locked.state().policy.note_small(taken.unit, units);
                }
                return Some(locked.hand_out(taken, units, kind));
            }
            drop(locked);
            match self.grow(want) {
                Grown::Yes => {}
                Grown::No if !exhausted => {
                    // What is dirty joins what is clean, and may be long enough then.
                    self.purge_all();
                    exhausted = true;
                }
                Grown::No | Grown::Reentered => return None,
            }
        }
    }

    /// Takes units that are resident, making huge pages for it where that is the policy. Where it is not, or
    /// no more can be had, the lock comes back if it is still held.
    fn take_resident<'a>(
        &'a self,
        mut locked: Locked<'a>,
        units: usize,
        kind: Kind,
    ) -> Result<Free, Option<Locked<'a>>> {
        let whole = units.next_multiple_of(PIECE);
        let mut has_grown = false;
        loop {
            let (used, now) = (self.stats.used_units.load(Relaxed), settings::now());
            let state = locked.state();
            if let Some(taken) = state.runs.take_dirty(units) {
                return Ok(locked.hand_out(taken, units, kind));
            }
            match state.policy.plan(used, now) {
                Plan::Small => return Err(Some(locked)),
                Plan::Look(samples) => {
                    drop(locked);
                    let dense = huge::are_dense(&samples);
                    locked = self.enter().ok_or(None)?;
                    locked.state().policy.looked(dense, used);
                    continue;
                }
                Plan::Ask => {}
            }
            let Some(place) = state.purging.place() else { return Err(Some(locked)) };
            if let Some(pieces) = state.runs.take_pieces(whole) {
                state.purging.begin(place, pieces.unit, whole);
                drop(locked);
                self.make_huge(pieces.unit, whole, place);
            } else {
                drop(locked);
                if has_grown || !matches!(self.grow(whole + PIECE - 1), Grown::Yes) {
                    return Err(None);
                }
                has_grown = true;
            }
            locked = self.enter().ok_or(None)?;
        }
    }

    /// Makes pieces huge pages, without the lock, and files them as resident. They are on their way in
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
        match self.opener.begin() {
            Turn::Mine => {}
            Turn::Waited => return Grown::Yes,
            Turn::Reentered => return Grown::Reentered,
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

    /// Spare units, where the calling thread was interrupted with the lock held.
    #[cold]
    fn take_spare(&self, units: usize, align: usize, kind: Kind) -> Option<Free> {
        if !self.interrupted_here() || align > 1 {
            return None;
        }
        // Unit 0 is nobody's.
        let fits = |taken| (1 + taken + units <= frontier::spare_units()).then_some(taken + units);
        let taken = self.spare.fetch_update(Relaxed, Relaxed, fits).ok()?;
        Some(hand_out(Taken { unit: Unit::new(1 + taken), clean: true }, units, kind))
    }

    /// Grows a span of some kind in place from `old` to `new` units if what follows it is free.
    /// Says then whether every byte of what was added reads as zero.
    ///
    /// # Safety
    /// The caller owns the span and enters the added units in the map.
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
