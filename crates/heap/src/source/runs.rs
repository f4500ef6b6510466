//! Free runs of units, filed by length.
//!
//! Two sets: **dirty** runs (pages as their last user left them, still resident) and **clean** ones
//! (reading as zero, costing nothing). Within a set, runs are filed by length: exact up to 32 units,
//! then eight files per doubling; the newest of a file is taken first.
//!
//! ```text
//!   records:  │ filed, units = 5 │ … │ … │ … │ filed, units = 5 │ not filed │ …
//!   units:    │ ◀────────────── a free run ──────────────────▶ │ in use    │ …
//! ```
//! Both ends of a filed run carry its length (boundary tags, Knuth), and no other record says
//! `filed`, so a run that is being filed finds its neighbours in constant time. The map's words for free
//! units all say FREE; whoever frees a span writes them before returning it here.

use crate::base::layout::{PIECE, UNIT_SHIFT, Unit};
use crate::base::list::List;
use crate::map::record::{BySort, Run, Span};
use crate::map::span_map::MAP;
use crate::source::ages::{Ages, before, close};

const EXACT: usize = 32;
const FILES: usize = EXACT + 8 * 23;
/// Runs of a file that are usually examined.
const TRIES: usize = 8;

/// Free runs of one set, by length.
struct Files {
    files: [List<BySort>; FILES],
    used: [u64; FILES.div_ceil(64)],
}

fn file_of(units: usize) -> usize {
    if units <= EXACT {
        return units - 1;
    }
    let e = units.ilog2() as usize;
    (EXACT + (e - 5) * 8 + ((units >> (e - 3)) & 7)).min(FILES - 1)
}

impl Files {
    const fn new() -> Files {
        Files { files: [const { List::new() }; FILES], used: [0; FILES.div_ceil(64)] }
    }

    unsafe fn add(&mut self, unit: Unit, units: usize) {
        let file = file_of(units);
        // SAFETY: the caller's run is in no file.
        unsafe { self.files[file].push_front(unit) };
        self.used[file / 64] |= 1 << (file % 64);
    }

    unsafe fn remove(&mut self, unit: Unit, units: usize) {
        let file = file_of(units);
        // SAFETY: the caller's run is in this file.
        unsafe { self.files[file].remove(unit) };
        if self.files[file].is_empty() {
            self.used[file / 64] &= !(1 << (file % 64));
        }
    }

    /// A run of at least `units`.
    fn find(&self, units: usize, mut tries: usize) -> Option<Unit> {
        let file = file_of(units);
        let mut at = self.files[file].first();
        // Runs in the same file may be shorter.
        while !at.is_none() && tries > 0 {
            tries -= 1;
            // SAFETY: filed runs have valid records under the lock.
            unsafe {
                if (*MAP.span(at)).units as usize >= units {
                    return Some(at);
                }
                at = List::<BySort>::after(at);
            }
        }
        self.next_used(file + 1).map(|file| self.files[file].first())
    }

    /// The first file at or above `from` that holds a run.
    fn next_used(&self, from: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = self.used.get(word)? & (!0 << (from % 64));
        while bits == 0 {
            word += 1;
            bits = *self.used.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }

    /// One of the longest runs.
    fn longest(&self) -> Option<Unit> {
        let word = self.used.iter().rposition(|&bits| bits != 0)?;
        let file = word * 64 + 63 - self.used[word].leading_zeros() as usize;
        Some(self.files[file].first())
    }
}

/// A run of units taken out.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// First unit.
    pub unit: Unit,
    /// True when every byte reads as zero.
    pub clean: bool,
}

/// The fields of a free run.
#[derive(Clone, Copy)]
pub struct Known {
    /// Its length.
    pub units: usize,
    /// True when every byte reads as zero, and no page is resident.
    pub clean: bool,
    /// When it was freed.
    pub stamp: u32,
    /// True when it was due to go back, and was spared for the huge page it is a part of.
    pub spared: bool,
    /// True when the system has refused to take it.
    pub refused: bool,
}

impl Known {
    /// What has just been freed.
    pub fn freed(units: usize, clean: bool, stamp: u32) -> Known {
        Known { units, clean, stamp, spared: false, refused: false }
    }
}

/// All free runs.
pub struct Runs {
    dirty: Files,
    clean: Files,
    ages: Ages,
    dirty_units: usize,
    /// Runs of a file that are examined before a longer one is taken.
    tries: usize,
}

/// The run described by the record of a filed run's first unit.
unsafe fn known(unit: Unit) -> Known {
    // SAFETY: a filed run has a valid record under the lock.
    unsafe {
        let span = MAP.span(unit);
        let units = (*span).units as usize;
        let Run { clean, stamp, spared, refused, .. } = *Span::run(span);
        Known { units, clean, stamp, spared, refused }
    }
}

/// The filed run that starts at a unit.
fn run_from(unit: Unit) -> Option<Unit> {
    // SAFETY: records below the limit are committed; tags change under the lock only.
    (unit.index() < MAP.limit() && unsafe { (*MAP.span(unit)).filed }).then_some(unit)
}

/// The filed run that ends before a unit.
fn run_before(unit: Unit) -> Option<Unit> {
    // SAFETY: as above; no span starts at unit 0, and its record is never filed.
    unsafe {
        let last = MAP.span(unit - 1);
        (*last).filed.then(|| unit - (*last).units as usize)
    }
}

impl Runs {
    /// No runs.
    pub const fn new() -> Runs {
        let (dirty, clean) = (Files::new(), Files::new());
        Runs { dirty, clean, ages: Ages::new(), dirty_units: 0, tries: TRIES }
    }

    /// Sets whether to search for a fitting run everywhere, or only where that is quick.
    pub fn look_everywhere(&mut self, everywhere: bool) {
        self.tries = if everywhere { usize::MAX } else { TRIES };
    }

    /// Units in dirty runs.
    pub fn dirty_units(&self) -> usize {
        self.dirty_units
    }

    fn files(&mut self, clean: bool) -> &mut Files {
        if clean { &mut self.clean } else { &mut self.dirty }
    }

    /// Files a run alone. A dirty one must have its place among the ages.
    unsafe fn file_alone(&mut self, unit: Unit, run: Known) {
        // SAFETY: the caller's run is free and not filed.
        unsafe {
            let (first, last) = (MAP.span(unit), MAP.span(unit + (run.units - 1)));
            for tag in [last, first] {
                (*tag).units = run.units as u32;
                (*tag).filed = true;
            }
            let view = Span::run(first);
            (*view).clean = run.clean;
            (*view).stamp = run.stamp;
            (*view).spared = run.spared;
            (*view).refused = run.refused;
            self.files(run.clean).add(unit, run.units);
        }
        if !run.clean {
            self.dirty_units += run.units;
        }
    }

    /// Takes a run out of its file. A dirty one keeps its place among the ages for now.
    unsafe fn unfile(&mut self, unit: Unit) -> Known {
        // SAFETY: the caller's run is filed.
        unsafe {
            let run = known(unit);
            (*MAP.span(unit)).filed = false;
            (*MAP.span(unit + (run.units - 1))).filed = false;
            self.files(run.clean).remove(unit, run.units);
            if !run.clean {
                self.dirty_units -= run.units;
            }
            run
        }
    }

    /// Files a free run, joined with neighbours of the same set; dirty ones only if of about the same age.
    ///
    /// # Safety
    /// The units are free, the caller's under the source's lock, entered in the map as FREE, and
    /// not filed.
    pub unsafe fn file(&mut self, unit: Unit, freed: Known, decay: u32) {
        let mut run = freed;
        let mut start = unit;
        // The listed run whose place the joined one takes.
        let mut place = None;
        for neighbour in [run_from(unit + freed.units), run_before(unit)].into_iter().flatten() {
            // SAFETY: a filed run; it leaves its file before the joined one is filed.
            unsafe {
                let other = known(neighbour);
                let alike = (other.clean, other.refused) == (run.clean, run.refused);
                if !alike || !run.clean && !close(other.stamp, freed.stamp, decay) {
                    continue;
                }
                self.unfile(neighbour);
                run.units += other.units;
                run.spared &= other.spared;
                start = start.min(neighbour);
                if run.clean {
                    continue;
                }
                if place.is_none() || before(other.stamp, run.stamp) {
                    if let Some(younger) = place.replace(neighbour) {
                        self.ages.remove(younger);
                    }
                } else {
                    self.ages.remove(neighbour);
                }
                if before(other.stamp, run.stamp) {
                    run.stamp = other.stamp;
                }
            }
        }
        // SAFETY: the run is the caller's, and in no file now.
        unsafe {
            match place {
                Some(old) => self.ages.replace(old, start),
                None if !run.clean => self.ages.add(start, run.stamp, run.refused),
                None => {}
            }
            self.file_alone(start, run);
        }
    }

    /// Takes `units` units at a multiple of `align` units: dirty ones first. Dirty ones that are
    /// too short are taken together with their neighbours.
    pub fn take(&mut self, units: usize, align: usize) -> Option<Taken> {
        // One unit of slack less than a whole step of alignment always suffices.
        let want = units.checked_add(align - 1)?;
        if let Some(found) = self.dirty.find(want, self.tries) {
            // SAFETY: a filed run of that length.
            return Some(unsafe { self.cut(found, units, align) });
        }
        if align == 1
            && let Some(taken) = self.take_with_neighbour(units)
        {
            return Some(taken);
        }
        self.take_clean_aligned(units, align, want)
    }

    /// Like [`take`](Runs::take), but only dirty units, and only from a single run that is long enough.
    pub fn take_dirty(&mut self, units: usize) -> Option<Taken> {
        let found = self.dirty.find(units, self.tries)?;
        // SAFETY: a filed run of that length.
        Some(unsafe { self.cut(found, units, 1) })
    }

    /// Like [`take`](Runs::take), but never pages that are resident.
    pub fn take_clean(&mut self, units: usize) -> Option<Taken> {
        self.take_clean_aligned(units, 1, units)
    }

    fn take_clean_aligned(&mut self, units: usize, align: usize, want: usize) -> Option<Taken> {
        let found = self.clean.find(want, self.tries)?;
        // SAFETY: a filed run of that length.
        Some(unsafe { self.cut(found, units, align) })
    }

    /// Takes `units` clean units, a multiple of a piece, that start where a piece does.
    pub fn take_pieces(&mut self, units: usize) -> Option<Taken> {
        let fits = |found: Unit| {
            let ahead = found.index().next_multiple_of(PIECE) - found.index();
            // SAFETY: a filed run.
            unsafe { known(found).units >= ahead + units }
        };
        let exact = self.clean.find(units, self.tries).filter(|&found| fits(found));
        let found = exact.or_else(|| self.clean.find(units + PIECE - 1, self.tries))?;
        // SAFETY: a filed run of that length.
        Some(unsafe { self.cut(found, units, PIECE) })
    }

    /// Takes a run from the longest dirty run and a neighbour of it that together suffice, when the
    /// dirty run is at least half of what is wanted.
    fn take_with_neighbour(&mut self, units: usize) -> Option<Taken> {
        let dirty = self.dirty.longest()?;
        // SAFETY: filed runs, which leave their files before anything else happens to them.
        unsafe {
            let mine = known(dirty).units;
            if mine >= units || mine < units / 2 {
                return None;
            }
            let missing = units - mine;
            let behind = run_from(dirty + mine).filter(|&at| known(at).units >= missing);
            let ahead = run_before(dirty).filter(|&at| known(at).units >= missing);
            let neighbour = behind.or(ahead)?;
            self.unfile(dirty);
            self.ages.remove(dirty);
            let other = self.unfile(neighbour);
            let rest = other.units - missing;
            let (start, rest_at) = match behind {
                Some(_) => (dirty, neighbour + missing),
                None => (neighbour + rest, neighbour),
            };
            match (other.clean, rest > 0) {
                (false, true) => self.ages.replace(neighbour, rest_at),
                (false, false) => self.ages.remove(neighbour),
                (true, _) => {}
            }
            if rest > 0 {
                self.file_alone(rest_at, Known { units: rest, ..other });
            }
            Some(Taken { unit: start, clean: false })
        }
    }

    /// Takes `units` units at a multiple of `align` units out of a filed run that holds them, and
    /// files what is left on either side.
    ///
    /// # Safety
    /// `found` is filed and long enough.
    unsafe fn cut(&mut self, found: Unit, units: usize, align: usize) -> Taken {
        let address = MAP.address_of(found);
        let ahead = (address.next_multiple_of(align << UNIT_SHIFT) - address) >> UNIT_SHIFT;
        // SAFETY: the caller's contract; the parts are disjoint and not filed.
        unsafe {
            let run = self.unfile(found);
            let unit = found + ahead;
            let rest = run.units - ahead - units;
            if ahead > 0 {
                self.file_alone(found, Known { units: ahead, ..run });
            }
            if !run.clean {
                match (ahead > 0, rest > 0) {
                    (true, true) => self.ages.add_beside(found, unit + units),
                    (true, false) => {}
                    (false, true) => self.ages.replace(found, unit + units),
                    (false, false) => self.ages.remove(found),
                }
            }
            if rest > 0 {
                self.file_alone(unit + units, Known { units: rest, ..run });
            }
            Taken { unit, clean: run.clean }
        }
    }

    /// Takes `units` units that start at `unit`, if a free run starts there and is long enough.
    /// True when every byte of them reads as zero.
    pub fn take_at(&mut self, unit: Unit, units: usize) -> Option<bool> {
        let run = run_from(unit)?;
        // SAFETY: a filed run of that length.
        unsafe { (known(run).units >= units).then(|| self.cut(run, units, 1).clean) }
    }

    /// Takes a clean run, one of the longest.
    pub fn take_longest_clean(&mut self) -> Option<(Unit, usize)> {
        let unit = self.clean.longest()?;
        // SAFETY: a filed run.
        Some((unit, unsafe { self.unfile(unit).units }))
    }

    /// The dirty run that is to go back first.
    pub fn oldest(&self, now: u32) -> Option<(Unit, Known)> {
        let unit = self.ages.oldest(now)?;
        // SAFETY: a filed run.
        Some((unit, unsafe { known(unit) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_ordered_by_length() {
        let mut last = 0;
        for units in 1..100_000 {
            let file = file_of(units);
            assert!(file >= last && file < FILES, "{units}");
            last = file;
        }
        assert!(file_of(1 << 28) < FILES);
    }
}
