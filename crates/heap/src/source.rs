//! The span source: all memory comes from here and returns here.
//!
//! Free runs of units are kept in two sets, **dirty** (pages as their last user left them, still
//! resident) and **clean** (reading as zero, costing nothing). Requests take dirty runs first.
//! Dirty runs are also linked by age; those older than the decay are purged and become clean.
//! Neighbouring runs of the same set are joined at once (boundary tags in the span records).
//! Within a set, runs are filed by length: exact up to 32 units, then eight files to a doubling.

use crate::layout::{MAP_BYTES, UNIT, UNIT_SHIFT, WINDOW_SHIFT};
use crate::map::{FOREIGN, FREE, INTERNAL, MAP};
use crate::record::{Kind, Span};
use crate::settings;
use allod_os::lock::Lock;
use allod_os::vm::{self, Refused, Window};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

const EXACT: usize = 32;
const FILES: usize = EXACT + 8 * 20;
/// Units opened at once at the frontier.
const STEP: usize = 16;

/// A run of units handed out.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// First unit.
    pub unit: usize,
    /// True when every byte reads as zero.
    pub clean: bool,
}

struct Files {
    first: [u32; FILES],
    used: [u64; FILES.div_ceil(64)],
}

impl Files {
    const fn new() -> Files {
        Files { first: [0; FILES], used: [0; FILES.div_ceil(64)] }
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
}

fn file_of(units: usize) -> usize {
    if units <= EXACT {
        return units - 1;
    }
    let e = units.ilog2() as usize;
    (EXACT + (e - 5) * 8 + ((units >> (e - 3)) & 7)).min(FILES - 1)
}

/// Since when a dirty run has been free.
#[derive(Clone, Copy)]
enum Age {
    New(u32),
    Kept(u32),
}

impl Age {
    fn or_older(self, stamp: u32) -> Age {
        let (Age::New(mine) | Age::Kept(mine)) = self;
        if (stamp.wrapping_sub(mine) as i32) < 0 { Age::Kept(stamp) } else { self }
    }
}

struct State {
    window: Option<Window>,
    /// True when open address space costs nothing, so that much may be opened ahead of its use.
    generous: bool,
    /// Pages of the map and of the records are open up to these addresses.
    map_open: usize,
    records_open: usize,
    /// Units are open up to this address, and entered in the map up to `MAP.limit()`.
    units_open: usize,
    dirty: Files,
    clean: Files,
    /// Oldest and newest dirty run.
    oldest: u32,
    newest: u32,
}

/// The span source. Its lock comes after every heap's lock.
pub struct Source {
    pub(crate) lock: Lock,
    state: UnsafeCell<State>,
    /// Units in dirty runs.
    pub dirty_units: AtomicUsize,
    /// Units in spans, by what the span is used for.
    pub kind_units: [AtomicUsize; Kind::COUNT],
    /// Units in spans.
    pub used_units: AtomicUsize,
    /// Most units ever in spans at once.
    pub peak_units: AtomicUsize,
    /// Bytes given back to the system so far.
    pub purged_bytes: AtomicU64,
    /// Calls that gave memory back.
    pub purges: AtomicU64,
}

// SAFETY: `state` is touched only with `lock` held.
unsafe impl Sync for Source {}

/// The span source of this process.
pub static SOURCE: Source = Source {
    lock: Lock::new(),
    state: UnsafeCell::new(State {
        window: None,
        generous: false,
        map_open: 0,
        records_open: 0,
        units_open: 0,
        dirty: Files::new(),
        clean: Files::new(),
        oldest: 0,
        newest: 0,
    }),
    dirty_units: AtomicUsize::new(0),
    kind_units: [const { AtomicUsize::new(0) }; Kind::COUNT],
    used_units: AtomicUsize::new(0),
    peak_units: AtomicUsize::new(0),
    purged_bytes: AtomicU64::new(0),
    purges: AtomicU64::new(0),
};

fn add(counter: &AtomicUsize, n: isize) -> usize {
    let now = counter.load(Relaxed).wrapping_add_signed(n);
    counter.store(now, Relaxed);
    now
}

impl Source {
    #[allow(clippy::mut_from_ref)]
    fn locked<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        self.lock.lock();
        // SAFETY: the lock is held, so this is the only reference.
        let r = f(unsafe { &mut *self.state.get() });
        self.lock.unlock();
        r
    }

    /// Takes `units` units for a span of some kind, starting at a multiple of `align` units. `None`
    /// when memory is out. The span's record says kind and length then; the map does not yet.
    pub fn take(&self, units: usize, align: usize, kind: Kind) -> Option<Run> {
        self.locked(|s| {
            let run = s.take(self, units, align)?;
            Some(self.hand_out(run, units, kind))
        })
    }

    /// Like [`take`](Source::take), but never pages that are resident: for a destination to which
    /// pages are moved.
    pub fn take_clean(&self, units: usize, kind: Kind) -> Option<Run> {
        self.locked(|s| {
            if State::find_in(&s.clean, units).is_none() && !s.grow(self, units) {
                return None;
            }
            let found = State::find_in(&s.clean, units)?;
            let run = s.cut(self, found, units, 1);
            Some(self.hand_out(run, units, kind))
        })
    }

    /// Counts a run and writes into its record what it is for. With the lock held.
    fn hand_out(&self, run: Run, units: usize, kind: Kind) -> Run {
        self.count(kind, units as isize);
        let span = MAP.span(run.unit);
        // SAFETY: the run is ours until somebody enters it in the map.
        unsafe {
            (*span).units = units as u32;
            (*span).set_kind(kind);
        }
        run
    }

    /// True while address space is so plentiful that a growing block may have many times its size.
    pub fn is_roomy(&self) -> bool {
        let used = self.used_units.load(Relaxed) << UNIT_SHIFT;
        self.locked(|s| s.generous && s.window.is_some_and(|w| used < w.len / 4))
    }

    fn count(&self, kind: Kind, units: isize) {
        add(&self.kind_units[kind as usize], units);
        let used = add(&self.used_units, units);
        if used > self.peak_units.load(Relaxed) {
            self.peak_units.store(used, Relaxed);
        }
    }

    /// Returns units of a span of some kind to the source. `clean` says that all of them read as
    /// zero.
    ///
    /// # Safety
    /// The units are a whole span, or a tail of one, that nobody uses any more.
    pub unsafe fn give(&self, unit: usize, units: usize, kind: Kind, clean: bool) {
        let now = settings::now();
        self.locked(|s| {
            self.count(kind, -(units as isize));
            s.insert(self, unit, units, clean, now);
        });
    }

    /// Grows a span of some kind in place from `old` to `new` units if what follows it is free.
    ///
    /// # Safety
    /// The caller owns the span and enters the added units in the map.
    pub unsafe fn extend(&self, unit: usize, old: usize, new: usize, kind: Kind) -> bool {
        self.locked(|s| {
            let after = unit + old;
            let missing = new - old;
            if after >= MAP.limit() && !s.grow(self, missing.next_multiple_of(STEP)) {
                return false;
            }
            if after >= MAP.limit() || MAP.bin_at(after) != FREE.entry() {
                return false;
            }
            let run = MAP.span(after);
            // SAFETY: the first record of a free run is valid under the lock.
            unsafe {
                if (*run).busy || ((*run).units as usize) < missing {
                    return false;
                }
                s.cut(self, after, missing, 1);
                (*MAP.span(unit)).units = new as u32;
            }
            self.count(kind, missing as isize);
            true
        })
    }

    /// Gives the pages of the oldest dirty run back to the system when it is older than `delay`
    /// milliseconds. Returns the bytes given back, or `None` when there is nothing (yet) to do.
    pub fn purge_oldest(&self, now: u32, delay: u32) -> Option<usize> {
        let (unit, units) = self.locked(|s| {
            let unit = s.oldest as usize;
            if unit == 0 {
                return None;
            }
            let run = MAP.span(unit);
            // SAFETY: runs in the list have valid records under the lock.
            unsafe {
                if (now.wrapping_sub((*run).stamp) as i32) < delay as i32 {
                    return None;
                }
                let units = (*run).units as usize;
                s.remove(self, unit);
                // Neighbours must not join a run whose pages are on their way out.
                (*run).units = units as u32;
                (*run).busy = true;
                (*MAP.span(unit + units - 1)).busy = true;
                Some((unit, units))
            }
        })?;
        // SAFETY: the run is in no list and marked busy, so nobody else touches it.
        let done = unsafe { vm::purge(MAP.address_of(unit), units * UNIT) };
        self.locked(|s| {
            // SAFETY: still ours; the marks go with the lock held.
            unsafe {
                (*MAP.span(unit)).busy = false;
                (*MAP.span(unit + units - 1)).busy = false;
            }
            // Locked pages cannot be purged; counting them clean would hand out old contents.
            s.insert(self, unit, units, done, now);
        });
        if done {
            self.count_purge(units * UNIT);
        }
        Some(units * UNIT)
    }

    /// Records that `bytes` went back to the system.
    pub fn count_purge(&self, bytes: usize) {
        self.purged_bytes.fetch_add(bytes as u64, Relaxed);
        self.purges.fetch_add(1, Relaxed);
    }
}

impl State {
    /// Chooses the window and opens its first pages.
    fn open_window(&mut self) -> bool {
        const ALIGN: usize = 2 << 20;
        let mut window = None;
        if !vm::address_space_is_limited() {
            window = [WINDOW_SHIFT, 38, 36, 34, 32]
                .iter()
                .find_map(|shift| Window::reserve(1 << shift, ALIGN));
        }
        let w = window.unwrap_or_else(|| Window::unreserved(1 << 36, ALIGN));
        let base = w.base + records_len(w.len) + MAP_BYTES;
        self.window = Some(w);
        self.generous = w.reserved && !vm::commits_strictly();
        self.records_open = w.base;
        self.map_open = base - MAP_BYTES;
        self.units_open = base;
        MAP.place(base, w.base);
        if !self.open_map(1) {
            self.window = None;
            return false;
        }
        // No span starts at unit 0, so that 0 may stand for "none" in lists.
        // SAFETY: the word was just opened.
        unsafe { MAP.enter(0, 1, INTERNAL.entry()) };
        MAP.extend(1);
        true
    }

    /// Opens the pages of the map for all units below `limit`.
    fn open_map(&mut self, limit: usize) -> bool {
        let Some(w) = self.window else { return false };
        let start = MAP.address_of(0) - MAP_BYTES;
        let need = (start + limit * 8).next_multiple_of(vm::page_size());
        let step = if self.generous { 1 << 18 } else { 1 << 12 };
        let to = need.next_multiple_of(step).min(start + MAP_BYTES);
        open(&w, &mut self.map_open, to, need).is_ok()
    }

    /// Opens `count` more units at the frontier, with their words and records, as a clean run.
    fn grow(&mut self, source: &Source, count: usize) -> bool {
        if self.window.is_none() && !self.open_window() {
            return false;
        }
        let Some(w) = self.window else { return false };
        for _ in 0..64 {
            let from = MAP.limit();
            let end = MAP.address_of(from + count);
            if end > w.base + w.len || !self.open_map(from + count) {
                return false;
            }
            let records = MAP.span(from + count) as usize;
            let page = vm::page_size();
            let need = records.next_multiple_of(page);
            let to = need.next_multiple_of(if self.generous { 1 << 20 } else { page });
            if open(&w, &mut self.records_open, to, need).is_err() {
                return false;
            }
            let to = end.next_multiple_of(if self.generous { 64 << 20 } else { 1 << 20 });
            let before = self.units_open;
            let opened = open(&w, &mut self.units_open, to.min(w.base + w.len), end);
            let entry = match opened {
                Ok(()) => FREE.entry(),
                // Somebody else's mapping stands in the way: step over it.
                Err(Refused::Occupied) => FOREIGN.entry(),
                Err(Refused::Memory) => return false,
            };
            self.units_open = self.units_open.max(end);
            // SAFETY: words up to `from + count` were just opened.
            unsafe { MAP.enter(from, count, entry) };
            MAP.extend(from + count);
            if opened.is_ok() {
                // In one piece: a huge page must lie wholly in a range that is advised.
                if self.units_open > before {
                    settings::advise_huge(before, self.units_open - before);
                }
                self.insert(source, from, count, true, 0);
                return true;
            }
        }
        false
    }

    fn take(&mut self, source: &Source, units: usize, align: usize) -> Option<Run> {
        // One unit of slack less than a whole step of alignment always suffices.
        let want = units.checked_add(align - 1)?;
        let found = match self.find(want) {
            Some(unit) => unit,
            None => {
                if !self.grow(source, want.next_multiple_of(STEP)) && !self.grow(source, want) {
                    return None;
                }
                self.find(want)?
            }
        };
        Some(self.cut(source, found, units, align))
    }

    /// Takes `units` units at a multiple of `align` units out of a filed run that holds them, and
    /// files what is left on either side.
    fn cut(&mut self, source: &Source, found: usize, units: usize, align: usize) -> Run {
        let run = MAP.span(found);
        // SAFETY: a filed run has a valid record under the lock.
        let (len, clean, stamp) = unsafe { ((*run).units as usize, (*run).clean, (*run).stamp) };
        self.remove(source, found);
        let address = MAP.address_of(found);
        let unit =
            found + ((address.next_multiple_of(align << UNIT_SHIFT) - address) >> UNIT_SHIFT);
        if unit > found {
            self.insert_alone(source, found, unit - found, clean, Age::Kept(stamp));
        }
        let rest = found + len - unit - units;
        if rest > 0 {
            self.insert_alone(source, unit + units, rest, clean, Age::Kept(stamp));
        }
        // The taker enters the run in the map after the lock is released. Until then its ends must
        // not look free to a neighbour that comes back.
        for end in [unit, unit + units - 1] {
            // SAFETY: the run is ours under the lock.
            unsafe { MAP.enter(end, 1, INTERNAL.entry()) };
        }
        Run { unit, clean }
    }

    /// A run of at least `units`, dirty ones first.
    fn find(&self, units: usize) -> Option<usize> {
        Self::find_in(&self.dirty, units).or_else(|| Self::find_in(&self.clean, units))
    }

    fn find_in(files: &Files, units: usize) -> Option<usize> {
        let file = file_of(units);
        let mut at = files.first[file] as usize;
        // Runs in the same file may be shorter; look at a few before taking a longer one.
        let mut tries = 8;
        while at != 0 && tries > 0 {
            // SAFETY: filed runs have valid records under the lock.
            unsafe {
                if (*MAP.span(at)).units as usize >= units {
                    return Some(at);
                }
                at = (*MAP.span(at)).next as usize;
            }
            tries -= 1;
        }
        files.next_used(file + 1).map(|f| files.first[f] as usize)
    }

    fn files(&mut self, clean: bool) -> &mut Files {
        if clean { &mut self.clean } else { &mut self.dirty }
    }

    /// Files a free run, joined with free neighbours of its kind.
    fn insert(
        &mut self,
        source: &Source,
        mut unit: usize,
        mut units: usize,
        clean: bool,
        now: u32,
    ) {
        let mut age = Age::New(now);
        let joinable = |span: *mut Span| {
            // SAFETY: the records at the ends of free runs are valid under the lock.
            unsafe { !(*span).busy && (*span).clean == clean }
        };
        let after = unit + units;
        if after < MAP.limit() && MAP.bin_at(after) == FREE.entry() && joinable(MAP.span(after)) {
            // SAFETY: as above.
            unsafe {
                units += (*MAP.span(after)).units as usize;
                age = age.or_older((*MAP.span(after)).stamp);
            }
            self.remove(source, after);
        }
        if MAP.bin_at(unit - 1) == FREE.entry() && joinable(MAP.span(unit - 1)) {
            // SAFETY: as above.
            let before = unsafe { (*MAP.span(unit - 1)).units as usize };
            unit -= before;
            // SAFETY: as above; only the first record of a run carries its stamp.
            age = age.or_older(unsafe { (*MAP.span(unit)).stamp });
            self.remove(source, unit);
            units += before;
        }
        self.insert_alone(source, unit, units, clean, age);
    }

    fn insert_alone(&mut self, source: &Source, unit: usize, units: usize, clean: bool, age: Age) {
        // SAFETY: the units are free and ours under the lock; the records at both ends carry the tags.
        unsafe {
            MAP.enter(unit, units, FREE.entry());
            let span = MAP.span(unit);
            for tag in [MAP.span(unit + units - 1), span] {
                (*tag).units = units as u32;
                (*tag).clean = clean;
                (*tag).busy = false;
                (*tag).set_kind(Kind::Free);
            }
            let file = file_of(units);
            let files = self.files(clean);
            let next = files.first[file];
            (*span).prev = 0;
            (*span).next = next;
            if next != 0 {
                (*MAP.span(next as usize)).prev = unit as u32;
            }
            files.first[file] = unit as u32;
            files.used[file / 64] |= 1 << (file % 64);
            if !clean {
                self.link_by_age(unit as u32, age);
                add(&source.dirty_units, units as isize);
            }
        }
    }

    /// Links a dirty run at the young end, or at the old end when it has kept an earlier stamp: a
    /// large run whose edge is in constant use must still come of age.
    ///
    /// # Safety
    /// The run's first record is ours under the lock.
    unsafe fn link_by_age(&mut self, unit: u32, age: Age) {
        // SAFETY: the caller's contract; linked runs have valid records.
        unsafe {
            let span = MAP.span(unit as usize);
            let (older, newer) = match age {
                Age::New(_) => (self.newest, 0),
                Age::Kept(_) => (0, self.oldest),
            };
            let (Age::New(stamp) | Age::Kept(stamp)) = age;
            (*span).stamp = stamp;
            (*span).all_prev = older;
            (*span).all_next = newer;
            match older {
                0 => self.oldest = unit,
                o => (*MAP.span(o as usize)).all_next = unit,
            }
            match newer {
                0 => self.newest = unit,
                n => (*MAP.span(n as usize)).all_prev = unit,
            }
        }
    }

    fn remove(&mut self, source: &Source, unit: usize) {
        // SAFETY: the run is filed, so its record and its neighbours' are valid under the lock.
        unsafe {
            let span = MAP.span(unit);
            let (units, clean) = ((*span).units as usize, (*span).clean);
            let (prev, next) = ((*span).prev, (*span).next);
            let file = file_of(units);
            let files = self.files(clean);
            match prev {
                0 => {
                    files.first[file] = next;
                    if next == 0 {
                        files.used[file / 64] &= !(1 << (file % 64));
                    }
                }
                p => (*MAP.span(p as usize)).next = next,
            }
            if next != 0 {
                (*MAP.span(next as usize)).prev = prev;
            }
            if !clean {
                let (older, newer) = ((*span).all_prev, (*span).all_next);
                match older {
                    0 => self.oldest = newer,
                    o => (*MAP.span(o as usize)).all_next = newer,
                }
                match newer {
                    0 => self.newest = older,
                    n => (*MAP.span(n as usize)).all_prev = older,
                }
                add(&source.dirty_units, -(units as isize));
            }
        }
    }
}

/// Opens pages from `*at`, to `to` if possible, else to `need`.
fn open(w: &Window, at: &mut usize, to: usize, need: usize) -> Result<(), Refused> {
    if *at >= need {
        return Ok(());
    }
    let goal = if w.commit(*at, to - *at).is_ok() {
        to
    } else {
        w.commit(*at, need - *at)?;
        need
    };
    *at = goal;
    Ok(())
}

/// Bytes of records for a window of `len` bytes.
fn records_len(len: usize) -> usize {
    ((len >> UNIT_SHIFT) * size_of::<Span>()).next_multiple_of(2 << 20)
}
