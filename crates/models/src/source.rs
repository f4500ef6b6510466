//! A span source with nothing in it but pieces on their way back to the system.

#[path = "../../heap/src/source/opener.rs"]
pub mod opener;
#[path = "../../heap/src/source/purging.rs"]
pub mod purging;
#[path = "../../heap/src/source/waiting.rs"]
pub mod waiting;

/// No piece is a huge page here.
pub mod huge {
    use crate::base::layout::Unit;

    /// As in the heap.
    pub const PATIENCE: u32 = 8;

    /// None is.
    pub fn is_huge(_: Unit) -> bool {
        false
    }

    /// There is nothing to forget.
    pub fn forget(_: Unit, _: usize) {}
}

use crate::base::layout::Unit;
use crate::base::sync::{Lock, UnsafeCell, process_wide};
use crate::lock::Held;
use opener::{Opener, Turn};
use purging::Purging;
use waiting::Waiting;

/// Units opened at once: enough for every thread of a model.
const STEP: usize = 3;

/// As in the heap.
pub struct Source {
    lock: Lock,
    state: UnsafeCell<State>,
    opener: Opener,
    waiting: Waiting,
}

/// What the lock guards.
#[derive(Clone)]
struct State {
    filed: Vec<Unit>,
    opened: usize,
    purging: Purging,
}

process_wide! {
    /// As in the heap.
    pub static SOURCE: Source = Source::new();
}

struct Locked<'a> {
    source: &'a Source,
    _held: Held<'a>,
}

impl Locked<'_> {
    fn state(&mut self) -> &mut State {
        // SAFETY: the lock is held, which loom checks.
        unsafe { &mut *self.source.state.get() }
    }
}

impl Source {
    fn new() -> Source {
        let state = State { filed: Vec::new(), opened: 0, purging: Purging::new() };
        Source {
            lock: Lock::new(),
            state: UnsafeCell::new(state),
            opener: Opener::new(),
            waiting: Waiting::new(),
        }
    }

    fn enter(&self) -> Option<Locked<'_>> {
        let held = self.lock.enter()?;
        let mut locked = Locked { source: self, _held: held };
        if !self.waiting.is_empty() {
            for (unit, _) in self.waiting.take_all() {
                locked.state().filed.push(unit);
            }
        }
        Some(locked)
    }

    /// Files a unit, as `give` does. With the lock held by the calling thread, a signal handler's.
    pub fn give(&self, unit: Unit) {
        match self.enter() {
            Some(mut locked) => locked.state().filed.push(unit),
            // SAFETY: the unit is the caller's.
            None => unsafe { self.waiting.push(unit, 1) },
        }
    }

    /// Holds the lock while `f` runs, as a thread that a signal interrupts.
    pub fn while_held(&self, f: impl FnOnce()) {
        let _locked = self.enter().expect("not interrupted");
        f();
    }

    /// Takes a new unit, as `take_by` does: opens some, with `while_opening` in the middle, or waits for
    /// another thread that does. False when the thread was interrupted there.
    pub fn take_new(&self, while_opening: impl Fn()) -> bool {
        loop {
            let Some(mut locked) = self.enter() else { return false };
            if locked.state().opened > 0 {
                locked.state().opened -= 1;
                return true;
            }
            drop(locked);
            match self.opener.begin(!self.lock.is_lent_here()) {
                Turn::Reentered | Turn::Taken => return false,
                Turn::Waited => {}
                Turn::Mine => {
                    while_opening();
                    if let Some(mut locked) = self.enter() {
                        locked.state().opened += STEP;
                    }
                    self.opener.end();
                }
            }
        }
    }

    /// Gives a filed unit back to the system, as `purge_oldest` does.
    pub fn purge_oldest(&self) {
        let (place, unit) = {
            let Some(mut locked) = self.enter() else { return };
            let state = locked.state();
            let (Some(unit), Some(place)) = (state.filed.pop(), state.purging.place()) else {
                return;
            };
            state.purging.begin(place, unit, 1);
            (place, unit)
        };
        loom::thread::yield_now();
        if let Some(mut locked) = self.enter() {
            locked.state().purging.end(place);
            locked.state().filed.push(unit);
        }
    }

    /// Units that are filed, in order.
    pub fn filed(&self) -> Vec<usize> {
        let mut filed: Vec<usize> = self
            .enter()
            .expect("not interrupted")
            .state()
            .filed
            .iter()
            .map(|unit| unit.index())
            .collect();
        filed.sort_unstable();
        filed
    }

    /// As in the heap.
    pub fn count_purge(&self, _: usize) {}

    /// As in the heap.
    pub fn hold_for_fork(&self, patient: bool) {
        self.lock.hold_for_fork(patient);
    }

    /// As in the heap.
    pub fn interrupted_here(&self) -> bool {
        self.lock.interrupted_here() || self.opener.is_mine()
    }

    /// As in the heap.
    pub fn forked_in_parent(&self) {
        self.lock.release_after_fork();
    }

    /// As in the heap.
    pub fn forked_in_child(&self) {
        self.opener.forked();
        if let Some(mut locked) = self.enter() {
            while let Some((unit, _)) = locked.state().purging.take_abandoned() {
                locked.state().filed.push(unit);
            }
        }
        self.lock.release_after_fork();
    }

    /// Makes this source what another is, as a fork does whose thread holds that one's lock.
    pub(crate) fn copy_from(&self, other: &Source) {
        // SAFETY: the lock is held for the fork.
        unsafe { *self.state.get() = (*other.state.get()).clone() };
        self.lock.hold_for_fork(true);
    }
}

/// No memory for more parcels.
pub fn internal(_: usize) -> Option<(usize, bool)> {
    None
}
