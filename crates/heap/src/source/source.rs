//! The span source: its lock, and what the layers above call.
//!
//! A thread that is interrupted by a signal while it holds the lock, and whose handler allocates (in a
//! forked child, say), gets units from a small **spare**, and what it frees waits in a list until the
//! lock is taken the next time. A thread that prepares a fork holds the lock at rest and goes on as usual.

use crate::base::layout::{PIECE, UNIT, UNIT_SHIFT, Unit, units_for};
use crate::base::settings;
use crate::map::bin::FREE;
use crate::map::record::Kind;
use crate::map::span_map::MAP;
use crate::source::frontier::{self, Frontier};
use crate::source::opener::{Opener, Turn};
use crate::source::purging::Purging;
use crate::source::runs::{Runs, Taken};
use crate::source::waiting::Waiting;
use allod_os::lock::{Held, Lock};
use allod_os::vm;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Units made known at once at the frontier.
const STEP: usize = 16;
/// For how long nothing is given back after the system has refused to take it, in milliseconds.
const REFUSED_FOR: u32 = 60_000;
/// Refusals in a row after which that is so.
const MOST_REFUSALS: u32 = 16;

/// A span handed out.
pub type Free = Taken;

struct State {
    runs: Runs,
    frontier: Frontier,
    purging: Purging,
    /// Pieces in a row that the system refused to take.
    refusals: u32,
    /// Until when purging is put off because of that.
    refused_until: Option<u32>,
}

/// Counters, read without the lock.
pub struct SourceStats {
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
    /// Times the lock was taken.
    pub locked: AtomicU64,
}

/// The span source. Its lock comes after every heap's lock.
pub struct Source {
    lock: Lock,
    state: UnsafeCell<State>,
    opener: Opener,
    /// Spare units handed out.
    spare: AtomicUsize,
    waiting: Waiting,
    /// Counters.
    pub stats: SourceStats,
}

// SAFETY: `state` is touched only with `lock` held.
unsafe impl Sync for Source {}

/// The span source of this process.
pub static SOURCE: Source = Source {
    lock: Lock::new(),
    state: UnsafeCell::new(State {
        runs: Runs::new(),
        frontier: Frontier::new(),
        purging: Purging::new(),
        refusals: 0,
        refused_until: None,
    }),
    opener: Opener::new(),
    spare: AtomicUsize::new(0),
    waiting: Waiting::new(),
    stats: SourceStats {
        dirty_units: AtomicUsize::new(0),
        kind_units: [const { AtomicUsize::new(0) }; Kind::COUNT],
        used_units: AtomicUsize::new(0),
        peak_units: AtomicUsize::new(0),
        purged_bytes: AtomicU64::new(0),
        purges: AtomicU64::new(0),
        locked: AtomicU64::new(0),
    },
};

/// The source with its lock held.
struct Locked<'a> {
    source: &'a Source,
    _held: Held<'a>,
}

/// Whether units could be opened.
enum Grown {
    Yes,
    No,
    /// The calling thread was interrupted while it opened units itself.
    Reentered,
}

impl Locked<'_> {
    #[inline]
    fn state(&mut self) -> &mut State {
        // SAFETY: the lock is held, so this is the only reference.
        unsafe { &mut *self.source.state.get() }
    }

    /// Writes into the record of a run taken out what it is for.
    fn hand_out(&mut self, taken: Taken, units: usize, kind: Kind) -> Free {
        self.source.count(kind, units as isize);
        self.source.show_dirty(self.state().runs.dirty_units());
        hand_out(taken, units, kind)
    }

    fn file(&mut self, unit: Unit, units: usize, clean: bool, stamp: u32) {
        let decay = settings::PURGE_DELAY_MS.get();
        // SAFETY: the callers' units are free, theirs, entered as FREE, and not filed.
        unsafe { self.state().runs.file(unit, units, clean, stamp, decay) };
        self.source.show_dirty(self.state().runs.dirty_units());
    }

    /// Files what was freed while the lock could not be taken.
    #[cold]
    fn file_waiting(&mut self) {
        for (unit, units) in self.source.waiting.take_all() {
            self.file(unit, units, false, settings::now());
        }
    }
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

impl Source {
    /// Takes the lock. `None` when the calling thread holds it: a signal interrupted it there.
    #[inline]
    fn enter(&self) -> Option<Locked<'_>> {
        let held = self.lock.enter()?;
        let mut locked = Locked { source: self, _held: held };
        self.stats.locked.store(self.stats.locked.load(Relaxed) + 1, Relaxed);
        if !self.waiting.is_empty() {
            locked.file_waiting();
        }
        Some(locked)
    }

    fn show_dirty(&self, units: usize) {
        self.stats.dirty_units.store(units, Relaxed);
    }

    fn count(&self, kind: Kind, units: isize) {
        let add = |counter: &AtomicUsize| {
            let now = counter.load(Relaxed).wrapping_add_signed(units);
            counter.store(now, Relaxed);
            now
        };
        add(&self.stats.kind_units[kind as usize]);
        let used = add(&self.stats.used_units);
        if used > self.stats.peak_units.load(Relaxed) {
            self.stats.peak_units.store(used, Relaxed);
        }
    }

    /// Takes `units` units for a span of some kind, starting at a multiple of `align` units. `None`
    /// when memory is out. The span's record says kind, length and start then; the map does not yet.
    pub fn take(&self, units: usize, align: usize, kind: Kind) -> Option<Free> {
        self.take_by(units, kind, units.checked_add(align - 1)?, |runs| runs.take(units, align))
            .or_else(|| self.take_spare(units, align, kind))
    }

    /// Like [`take`](Source::take), but never pages that are resident: for a destination to which
    /// pages are moved.
    pub fn take_clean(&self, units: usize, kind: Kind) -> Option<Free> {
        self.take_by(units, kind, units, |runs| runs.take_clean(units))
    }

    /// Like [`take`](Source::take), but resident pages only, where there are enough in one run.
    pub fn take_dirty(&self, units: usize, kind: Kind) -> Option<Free> {
        let mut locked = self.enter()?;
        let taken = locked.state().runs.take_dirty(units)?;
        Some(locked.hand_out(taken, units, kind))
    }

    /// Takes units with `find`, opening `want` more where that finds none.
    fn take_by(
        &self,
        units: usize,
        kind: Kind,
        want: usize,
        find: impl Fn(&mut Runs) -> Option<Taken>,
    ) -> Option<Free> {
        let mut exhausted = false;
        loop {
            let mut locked = self.enter()?;
            locked.state().runs.look_everywhere(exhausted);
            if let Some(taken) = find(&mut locked.state().runs) {
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

    /// True when the calling thread was interrupted with the lock held, or while it opened units.
    pub fn interrupted_here(&self) -> bool {
        self.lock.interrupted_here() || self.opener.is_mine()
    }

    /// Returns units of a span of some kind to the source. `clean` says that all of them read as
    /// zero and none is resident; `stamp` when they were last used.
    ///
    /// # Safety
    /// The units are a whole span, or a tail of one, that nobody uses any more.
    pub unsafe fn give(&self, unit: Unit, units: usize, kind: Kind, clean: bool, stamp: u32) {
        // SAFETY: the units are the caller's still. A tail has no record of its own yet.
        unsafe {
            MAP.enter(unit, units, FREE.entry());
            (*MAP.span(unit)).set_kind(Kind::Free);
        }
        match self.enter() {
            Some(mut locked) => {
                self.count(kind, -(units as isize));
                locked.file(unit, units, clean, stamp);
            }
            // SAFETY: the span is free and nobody's.
            None => unsafe { self.waiting.push(unit, units) },
        }
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

    /// Gives the pages of the oldest dirty run, a piece of it (2 MiB, of runs
    /// above 128 MiB a 64th), back to the system when
    /// it is older than `delay` milliseconds. Returns the bytes given back, or `None` when there is
    /// nothing (yet) to do.
    pub fn purge_oldest(&self, now: u32, delay: u32) -> Option<usize> {
        let (place, unit, units) = {
            let mut locked = self.enter()?;
            let state = locked.state();
            let (unit, len, stamp) = state.runs.oldest()?;
            if (now.wrapping_sub(stamp) as i32) < delay as i32 || state.is_refused(now) {
                return None;
            }
            let place = state.purging.place()?;
            // To the end of a huge page; of a run of GiBs, which was hardly touched, a larger part.
            let most = (len / 64).next_multiple_of(PIECE).max(PIECE);
            let units = len.min(most - unit.index() % PIECE);
            state.runs.take_at(unit, units)?;
            state.purging.begin(place, unit, units);
            self.show_dirty(locked.state().runs.dirty_units());
            (place, unit, units)
        };
        // SAFETY: the piece is in no list, so nobody else touches it.
        let done = unsafe { vm::purge(MAP.address_of(unit), units * UNIT) };
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

    /// Gives all dirty runs back.
    fn purge_all(&self) {
        let now = settings::now();
        while self.purge_oldest(now, 0).is_some() {}
    }

    /// True while dirty runs wait for their decay.
    pub fn has_dirty(&self) -> bool {
        self.stats.dirty_units.load(Relaxed) > 0
            && self.enter().is_some_and(|mut locked| !locked.state().is_refused(settings::now()))
    }

    /// Records that `bytes` went back to the system.
    pub fn count_purge(&self, bytes: usize) {
        self.stats.purged_bytes.fetch_add(bytes as u64, Relaxed);
        self.stats.purges.fetch_add(1, Relaxed);
    }

    /// Bytes in spans now.
    pub fn used_bytes(&self) -> usize {
        self.stats.used_units.load(Relaxed) << UNIT_SHIFT
    }

    /// True while address space is so plentiful that a growing block may have many times its size.
    pub fn is_roomy(&self) -> bool {
        let used = self.used_bytes();
        let roomy = self.enter().and_then(|mut locked| locked.state().frontier.roomy_bytes());
        roomy.is_some_and(|bytes| used < bytes / 4)
    }

    /// Gives up reserved addresses that are not in use; more are mapped piece by piece from now on.
    pub fn give_up_reservation(&self) {
        // SAFETY: the lock is held, and nobody opens units.
        self.change_frontier(|frontier| unsafe { frontier.give_up_reservation() });
    }

    /// The same, and has pages opened from now on locked in memory if `lock` says so: before
    /// `mlockall`, for which reserved addresses would count.
    pub fn prepare_for_locked_memory(&self, lock: bool) {
        frontier::lock_new_pages(lock);
        self.give_up_reservation();
    }

    /// Does something to the frontier that takes system calls, as one who opens units does.
    fn change_frontier(&self, change: impl FnOnce(&mut Frontier)) {
        loop {
            match self.opener.begin() {
                Turn::Mine => break,
                Turn::Waited => {}
                Turn::Reentered => return,
            }
        }
        if let Some(mut locked) = self.enter() {
            change(&mut locked.state().frontier);
        }
        self.opener.end();
    }

    /// Pages opened from now on need not be locked in memory.
    pub fn stop_locking_memory(&self) {
        frontier::lock_new_pages(false);
    }

    /// Takes the lock for a fork. With `patient` it waits for it however long that takes.
    pub fn hold_for_fork(&self, patient: bool) {
        self.lock.hold_for_fork(patient);
    }

    /// Releases the lock in the parent after a fork.
    pub fn forked_in_parent(&self) {
        self.lock.release_after_fork();
    }

    /// Releases the lock in the child, and files what threads that the child does not have were
    /// giving back to the system, or were about to open.
    pub fn forked_in_child(&self) {
        self.opener.forked();
        if let Some(mut locked) = self.enter() {
            while let Some((unit, units)) = locked.state().purging.take_abandoned() {
                locked.file(unit, units, false, settings::now());
            }
        }
        self.lock.release_after_fork();
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

/// A fresh span for the heap's own data; `None` when memory is out.
pub fn internal(bytes: usize) -> Option<(usize, bool)> {
    let units = units_for(bytes);
    let free = SOURCE.take(units, 1, Kind::Internal)?;
    let span = MAP.span(free.unit);
    // SAFETY: the span is ours.
    unsafe { MAP.enter(free.unit, units, &raw mut (*span).bin) };
    Some((MAP.address_of(free.unit), free.clean))
}
