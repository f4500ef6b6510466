//! The span source: its lock, and what the layers above call.
//!
//! If a signal interrupts a thread while it holds the lock, and the handler allocates or frees (in a
//! forked child, say), that is done [aside](super::interrupted). A thread that prepares a fork holds the lock while
//! the state it guards is consistent, and goes on as usual.

use crate::base::layout::{UNIT_SHIFT, Unit, units_for};
use crate::base::settings;
use crate::map::bin::{FOREIGN, FREE};
use crate::map::record::Kind;
use crate::map::span_map::MAP;
use crate::source::frontier::{self, Frontier};
use crate::source::huge::Policy;
use crate::source::interrupted::Aside;
use crate::source::opener::{Opener, Turn};
use crate::source::purging::Purging;
use crate::source::runs::{Known, Runs, Taken};
use allod_os::lock::{Held, Lock};
use allod_os::signal;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// A span handed out.
pub type Free = Taken;

/// What the lock guards.
pub(super) struct State {
    pub(super) runs: Runs,
    pub(super) frontier: Frontier,
    pub(super) purging: Purging,
    pub(super) policy: Policy,
    /// Pieces in a row that the system refused to take.
    pub(super) refusals: u32,
    /// Until when purging is suspended because of that.
    pub(super) refused_until: Option<u32>,
}

/// Counters, read without the lock.
pub struct SourceStats {
    /// Units in dirty runs.
    pub dirty_units: AtomicUsize,
    /// Units in spans, by what the span is used for.
    pub kind_units: [AtomicUsize; Kind::COUNT],
    /// Units in spans.
    pub used_units: AtomicUsize,
    /// Units of those that only give large blocks room to grow, and that the program was never allowed to touch.
    pub room_units: AtomicUsize,
    /// Most units ever in spans at once.
    pub peak_units: AtomicUsize,
    /// Bytes given back to the system so far.
    pub purged_bytes: AtomicU64,
    /// Calls that gave memory back.
    pub purges: AtomicU64,
    /// Huge pages made so far.
    pub huge_pages: AtomicU64,
    /// Times the lock was taken.
    pub locked: AtomicU64,
}

/// The span source. Its lock comes after every heap's lock.
pub struct Source {
    pub(super) lock: Lock,
    state: UnsafeCell<State>,
    pub(super) opener: Opener,
    pub(super) aside: Aside,
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
        policy: Policy::new(),
        refusals: 0,
        refused_until: None,
    }),
    opener: Opener::new(),
    aside: Aside::new(),
    stats: SourceStats {
        dirty_units: AtomicUsize::new(0),
        kind_units: [const { AtomicUsize::new(0) }; Kind::COUNT],
        used_units: AtomicUsize::new(0),
        room_units: AtomicUsize::new(0),
        peak_units: AtomicUsize::new(0),
        purged_bytes: AtomicU64::new(0),
        purges: AtomicU64::new(0),
        huge_pages: AtomicU64::new(0),
        locked: AtomicU64::new(0),
    },
};

/// The source with its lock held.
pub(super) struct Locked<'a> {
    pub(super) source: &'a Source,
    _held: Held<'a>,
}

/// Adds to a counter that changes only with the source's lock held.
fn add(counter: &AtomicUsize, units: isize) -> usize {
    let now = counter.load(Relaxed).wrapping_add_signed(units);
    counter.store(now, Relaxed);
    now
}

impl Locked<'_> {
    #[inline]
    pub(super) fn state(&mut self) -> &mut State {
        // SAFETY: the lock is held, so this is the only reference.
        unsafe { &mut *self.source.state.get() }
    }

    pub(super) fn file(&mut self, unit: Unit, units: usize, clean: bool, stamp: u32) {
        self.file_as(unit, Known::freed(units, clean, stamp));
    }

    pub(super) fn file_as(&mut self, unit: Unit, run: Known) {
        let decay = settings::PURGE_DELAY_MS.get();
        // SAFETY: the callers' units are free, theirs, entered as FREE, and not filed.
        unsafe { self.state().runs.file(unit, run, decay) };
        self.source.show_dirty(self.state().runs.dirty_units());
    }

    /// Files and counts what was freed and taken while the lock could not be taken.
    #[cold]
    fn catch_up(&mut self) {
        let uncounted = self.source.aside.take_uncounted();
        for (counter, units) in self.source.stats.kind_units.iter().zip(uncounted) {
            add(counter, units);
        }
        self.source.count_used(uncounted.iter().sum());
        for (unit, units) in self.source.aside.waiting.take_all() {
            self.file(unit, units, false, settings::now());
        }
    }
}

impl Source {
    /// Takes the lock. `None` when the calling thread holds it: a signal interrupted it there. Nor before there is a
    /// window: there is nothing in the source then.
    #[inline]
    pub(super) fn enter(&self) -> Option<Locked<'_>> {
        if MAP.is_placed() { self.enter_even_without_window() } else { None }
    }

    /// Chooses the window if there is none yet. Before any memory is taken, and as long as there is none nobody takes
    /// the lock for anything else: so a signal handler that interrupts the source finds spare units in the window.
    #[inline]
    pub(super) fn prepare(&self) {
        if !MAP.is_placed() {
            self.choose_window();
        }
    }

    #[cold]
    fn choose_window(&self) {
        // A handler would find neither a window nor the lock free to choose one.
        signal::without_handlers(|| {
            if let Some(mut locked) = self.enter_even_without_window() {
                locked.state().frontier.choose_window();
            }
        });
    }

    #[inline]
    fn enter_even_without_window(&self) -> Option<Locked<'_>> {
        let held = self.lock.enter()?;
        let mut locked = Locked { source: self, _held: held };
        self.stats.locked.store(self.stats.locked.load(Relaxed) + 1, Relaxed);
        if self.aside.is_behind() {
            locked.catch_up();
        }
        Some(locked)
    }

    pub(super) fn show_dirty(&self, units: usize) {
        self.stats.dirty_units.store(units, Relaxed);
    }

    pub(super) fn count(&self, kind: Kind, units: isize) {
        add(&self.stats.kind_units[kind as usize], units);
        self.count_used(units);
    }

    fn count_used(&self, units: isize) {
        let used = add(&self.stats.used_units, units);
        if used > self.stats.peak_units.load(Relaxed) {
            self.stats.peak_units.store(used, Relaxed);
        }
    }

    /// True when the calling thread was interrupted with the lock held, or while it opened units.
    pub fn interrupted_here(&self) -> bool {
        self.lock.interrupted_here() || self.opener.is_mine()
    }

    /// True when the calling thread is to take units aside: it was interrupted, or holds the lock for a fork and
    /// waits for nobody.
    pub(super) fn is_aside(&self) -> bool {
        self.interrupted_here() || self.lock.is_lent_here()
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
            None => unsafe { self.aside.give(unit, units, kind) },
        }
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

    /// The same without the room that large blocks have to grow: the memory that the program may have touched.
    pub fn held_bytes(&self) -> usize {
        self.held_units() << UNIT_SHIFT
    }

    pub(super) fn held_units(&self) -> usize {
        let room = self.stats.room_units.load(Relaxed);
        self.stats.used_units.load(Relaxed).saturating_sub(room)
    }

    /// Counts units of large blocks' spans that are room to grow from now on, or no longer.
    pub fn count_room(&self, units: isize) {
        if units != 0 {
            self.stats.room_units.fetch_add(units as usize, Relaxed);
        }
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
        self.change_frontier(|frontier| unsafe {
            frontier.give_up_spare(&self.aside.spare);
            frontier.give_up_reservation();
        });
    }

    /// The same, and has pages opened from now on locked in memory if `lock` says so: before
    /// `mlockall`, for which reserved addresses would count. Returns whether they were before.
    pub fn prepare_for_locked_memory(&self, lock: bool) -> bool {
        let before = frontier::lock_new_pages(lock);
        while self.give_up_clean() {}
        self.give_up_reservation();
        before
    }

    /// Gives up the addresses of a clean run, and marks them as foreign. False when there is none.
    fn give_up_clean(&self) -> bool {
        let Some(mut locked) = self.enter() else { return false };
        let state = locked.state();
        let Some(window) = state.frontier.reserved() else { return false };
        let Some((unit, units)) = state.runs.take_longest_clean() else { return false };
        drop(locked);
        // SAFETY: the run is in no list any more; nothing in it is in use. A child that is forked meanwhile
        // has lost its addresses, too.
        unsafe {
            MAP.enter(unit, units, FOREIGN.entry());
            window.give_up(MAP.address_of(unit), MAP.address_of(unit + units));
        }
        true
    }

    /// Makes a change to the frontier that takes system calls, in the way units are opened.
    fn change_frontier(&self, change: impl FnOnce(&mut Frontier)) {
        loop {
            match self.opener.begin(!self.lock.is_lent_here()) {
                Turn::Mine => break,
                Turn::Waited => {}
                Turn::Reentered | Turn::Taken => return,
            }
        }
        if let Some(mut locked) = self.enter() {
            change(&mut locked.state().frontier);
        }
        self.opener.end();
    }

    /// Has pages opened from now on locked in memory, or not.
    pub fn lock_new_pages(&self, lock: bool) {
        frontier::lock_new_pages(lock);
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

/// A fresh span for the heap's own data; `None` when memory is out.
pub fn internal(bytes: usize) -> Option<(usize, bool)> {
    let units = units_for(bytes);
    // Clean ones: a heap's stacks are only partly used, and a huge page would make all of them resident.
    let clean = SOURCE.take_clean(units, Kind::Internal);
    let free = clean.or_else(|| SOURCE.take(units, 1, Kind::Internal))?;
    let span = MAP.span(free.unit);
    // SAFETY: the span is ours.
    unsafe { MAP.enter(free.unit, units, &raw mut (*span).bin) };
    Some((MAP.address_of(free.unit), free.clean))
}
