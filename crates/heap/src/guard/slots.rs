//! The slots, who has them, and whose turn is next.

use crate::base::layout::{UNIT, Unit};
use crate::base::trace::Trace;
use crate::guard::chain;
use crate::map::record::{Kind, Large, Span};
use crate::map::span_map::MAP;
use crate::purge::fork;
use crate::purge::layers::{self, AroundFork};
use crate::sample::due;
use crate::source::SOURCE;
use allod_os::lock::Lock;
use allod_os::vm;
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::AcqRel, Ordering::Acquire,
    Ordering::Relaxed, Ordering::Release,
};

/// Guarded blocks at most, live ones and those that were freed last.
pub const SLOTS: usize = 256;
/// When fewer slots than this wait, blocks whose callers have a live guarded block already are not guarded.
const FEW: usize = SLOTS / 4;

/// What is known of a slot besides its span's record.
pub struct Slot {
    /// Who asked for the block. The owner of the slot writes it.
    taken: UnsafeCell<Trace>,
    /// Who freed it. Whoever freed it writes it.
    freed: UnsafeCell<Trace>,
    /// The callers' fingerprint while the block is live; else 0.
    site: AtomicU64,
    /// True when a wrong access was reported: it is not again, and pages may be open that should not.
    pub reported: AtomicBool,
}

/// The slots that wait for a block, the one that was freed first at the front.
struct Waiting {
    slots: [u16; SLOTS],
    front: usize,
    len: usize,
}

/// All slots.
pub struct Slots {
    /// Address of the first one; 0 before there are any.
    start: AtomicUsize,
    lock: Lock,
    waiting: UnsafeCell<Waiting>,
    /// What is known of the slots: an array of [`SLOTS`] behind them, so that a program without guarded blocks
    /// has no memory for it. Null before there are any.
    known: AtomicPtr<Slot>,
}

/// Units of that array.
const KNOWN_UNITS: usize = (SLOTS * size_of::<Slot>()).div_ceil(UNIT);

// SAFETY: `waiting` is touched with the lock held; a slot's traces are written by its owner, and read for
// reports only, which may show half of one where the program races with itself.
unsafe impl Sync for Slots {}

/// The slots of this process.
pub static ALL: Slots = Slots {
    start: AtomicUsize::new(0),
    lock: Lock::new(),
    waiting: UnsafeCell::new(Waiting { slots: [0; SLOTS], front: 0, len: 0 }),
    known: AtomicPtr::new(ptr::null_mut()),
};

/// The locks of guarded blocks. Nobody holds both.
fn locks() -> [&'static Lock; 2] {
    [chain::lock(), &ALL.lock]
}

static AROUND_FORK: AroundFork = AroundFork {
    before: || {
        let patient = !fork::is_interrupted();
        locks().iter().for_each(|lock| lock.hold_for_fork(patient));
    },
    in_parent: || locks().iter().for_each(|lock| lock.release_after_fork()),
    in_child: || {
        locks().iter().for_each(|lock| lock.reset_in_child());
        due::forked();
    },
    is_interrupted: || locks().iter().any(|lock| lock.interrupted_here()),
};

impl Slots {
    /// Makes the slots unless they are there. False when memory is out, or pages are too large.
    pub fn prepare(&self) -> bool {
        if UNIT / vm::page_size() < 4 {
            return false;
        }
        // Before the lock is taken for the first time.
        layers::join(&AROUND_FORK);
        let Some(_held) = self.lock.enter() else { return false };
        if self.start.load(Relaxed) != 0 {
            return true;
        }
        let units = SLOTS + KNOWN_UNITS;
        let Some(free) = SOURCE.take(units, 1, Kind::Internal) else { return false };
        let start = MAP.address_of(free.unit);
        let known = (start + SLOTS * UNIT) as *mut Slot;
        // SAFETY: the units are ours alone, and never given back.
        unsafe {
            vm::advise_huge(start, SLOTS * UNIT, false);
            if !vm::purge(start, SLOTS * UNIT) || !vm::forbid(start, SLOTS * UNIT) {
                SOURCE.give(free.unit, units, Kind::Internal, false, crate::base::settings::now());
                return false;
            }
            for i in 0..SLOTS {
                known.add(i).write(Slot::new());
            }
            self.known.store(known, Relaxed);
            for i in 0..SLOTS {
                self.enter_in_map(free.unit + i);
            }
            MAP.publish();
            let waiting = &mut *self.waiting.get();
            waiting.slots = core::array::from_fn(|i| i as u16);
            waiting.len = SLOTS;
        }
        self.start.store(start, Release);
        true
    }

    /// # Safety
    /// The unit is a new slot.
    unsafe fn enter_in_map(&self, unit: Unit) {
        // SAFETY: the caller's contract.
        unsafe {
            let span = MAP.span(unit);
            (*span).set_kind(Kind::Guarded);
            (*span).units = 1;
            (*span).start = MAP.address_of(unit);
            (*span).owner.store(ptr::null_mut(), Relaxed);
            *Span::large(span) = Large { bytes: 0, most: 0, dirty_units: 0 };
            MAP.enter(unit, 1, &raw mut (*span).bin);
        }
    }

    /// The number of the slot that an address lies in; `None` for one in no slot.
    pub fn number_of(&self, address: usize) -> Option<usize> {
        let start = self.start.load(Acquire);
        let number = address.wrapping_sub(start) / UNIT;
        (start != 0 && number < SLOTS).then_some(number)
    }

    /// The first address of a slot.
    pub fn address(&self, number: usize) -> usize {
        self.start.load(Relaxed) + number * UNIT
    }

    /// The record of a slot's span.
    pub fn span(&self, number: usize) -> *mut Span {
        MAP.span(MAP.unit_of(self.address(number)))
    }

    /// What else is known of a slot.
    pub fn slot(&self, number: usize) -> &Slot {
        &self.slots()[number]
    }

    /// What is known of each; nothing before there are any.
    fn slots(&self) -> &[Slot] {
        if self.start.load(Acquire) == 0 {
            return &[];
        }
        // SAFETY: `prepare` wrote the array before it published `start`, and it is never given back.
        unsafe { core::slice::from_raw_parts(self.known.load(Relaxed), SLOTS) }
    }

    /// Takes the slot that has waited longest, for a block that is asked for by `trace`. `None` when none waits; or
    /// few do, and these callers have a live guarded block already: others are to have a turn.
    pub fn take(&self, trace: &Trace) -> Option<usize> {
        let site = trace.fingerprint();
        let _held = self.lock.enter()?;
        // SAFETY: the lock is held.
        let waiting = unsafe { &mut *self.waiting.get() };
        let is_live = || self.slots().iter().any(|slot| slot.site.load(Relaxed) == site);
        if waiting.len == 0 || waiting.len < FEW && is_live() {
            return None;
        }
        let number = waiting.slots[waiting.front] as usize;
        waiting.front = (waiting.front + 1) % SLOTS;
        waiting.len -= 1;
        let slot = self.slot(number);
        slot.site.store(site, Relaxed);
        // SAFETY: the slot is the caller's now.
        unsafe { *slot.taken.get() = *trace };
        Some(number)
    }

    /// Has a slot wait for its next block, behind all others. A signal handler that interrupted its thread here
    /// leaves it out for ever.
    pub fn give(&self, number: usize) {
        self.slot(number).site.store(0, Relaxed);
        let Some(_held) = self.lock.enter() else { return };
        // SAFETY: the lock is held.
        let waiting = unsafe { &mut *self.waiting.get() };
        waiting.slots[(waiting.front + waiting.len) % SLOTS] = number as u16;
        waiting.len += 1;
    }
}

impl Slot {
    /// A slot that no block has had.
    const fn new() -> Slot {
        Slot {
            taken: UnsafeCell::new(Trace::none()),
            freed: UnsafeCell::new(Trace::none()),
            site: AtomicU64::new(0),
            reported: AtomicBool::new(false),
        }
    }

    /// Who asked for the block.
    pub fn taken(&self) -> Trace {
        // SAFETY: see `Sync`.
        unsafe { self.taken.get().read_volatile() }
    }

    /// Who freed it.
    pub fn freed(&self) -> Trace {
        // SAFETY: see `Sync`.
        unsafe { self.freed.get().read_volatile() }
    }

    /// Notes who frees the block: the caller, whose slot it is until it waits again.
    pub fn note_freed(&self) {
        // SAFETY: the caller has claimed the block.
        unsafe { *self.freed.get() = Trace::here() };
    }
}

/// Makes a slot's block live, or claims a live one to free it: false when it is not live.
///
/// # Safety
/// The record of a slot.
pub unsafe fn set_live(span: *mut Span, live: bool) -> bool {
    let (no, yes) = (ptr::null_mut(), ptr::without_provenance_mut(1));
    let (from, to) = if live { (no, yes) } else { (yes, no) };
    // SAFETY: the caller's contract.
    unsafe { (*span).owner.compare_exchange(from, to, AcqRel, Relaxed).is_ok() }
}
