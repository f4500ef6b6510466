//! When the helper thread that gives memory back works, sleeps and ends.
//!
//! ```text
//!            claim            sleep            note
//!   absent ────────▶ awake ────────▶ asleep ────────▶ awake
//!     ▲                │  nothing to do  │
//!     ├────────────────┘                 │ stop (also while awake)
//!     │            gone                  ▼
//!     └──────────────────────────────  leaving        stop also bars an absent one from starting
//! ```
//! A flush reports its bytes *after* it has released the lock under which it freed them. The
//! helper declares itself asleep, then looks once more, taking the same locks. So either that look
//! finds what was freed, or the flush finds the helper asleep and wakes it.

use crate::base::sync::{AtomicU32, AtomicUsize, Ordering, const_fn, futex_wait, futex_wake};

/// Bytes freed before a sleeping helper is woken, or before a program thread looks itself.
pub const WAKE_AFTER: usize = 1 << 20;

const ABSENT: u32 = 0;
const AWAKE: u32 = 1;
const ASLEEP: u32 = 2;
const LEAVING: u32 = 3;
/// And all above: one more for each further [`stop`](Helper::stop).
const BARRED: u32 = 4;

/// The state of the helper.
pub struct Helper {
    state: AtomicU32,
    freed: AtomicUsize,
}

impl Helper {
    const_fn! {
        /// No helper yet.
        pub fn new() -> Helper {
            Helper { state: AtomicU32::new(ABSENT), freed: AtomicUsize::new(0) }
        }
    }

    /// True while the helper works and need not be notified.
    #[inline]
    pub fn is_awake(&self) -> bool {
        self.state.load(Ordering::Relaxed) == AWAKE
    }

    /// True while there is no helper.
    #[inline]
    pub fn is_absent(&self) -> bool {
        self.state.load(Ordering::Relaxed) == ABSENT
    }

    /// Notes that `bytes` were freed while the helper is not working. Wakes it if that pays. True
    /// when there is none, and enough was freed for somebody else to look.
    pub fn note(&self, bytes: usize) -> bool {
        // Threads may overwrite each other's counts: waking a little later is no harm.
        let freed = self.freed.load(Ordering::Relaxed).wrapping_add(bytes);
        self.freed.store(freed, Ordering::Relaxed);
        if freed < WAKE_AFTER {
            return false;
        }
        self.freed.store(0, Ordering::Relaxed);
        if self.state.load(Ordering::Acquire) != ASLEEP {
            return true;
        }
        if self.change(ASLEEP, AWAKE) {
            futex_wake(&self.state, 1);
        }
        false
    }

    /// True when the caller is the one to start the helper.
    pub fn claim(&self) -> bool {
        self.change(ABSENT, AWAKE)
    }

    /// Notes that there is no helper any longer: it leaves as requested, could not be started after it was
    /// claimed, or does not exist in a forked child.
    pub fn gone(&self) {
        self.state.swap(ABSENT, Ordering::AcqRel);
        futex_wake(&self.state, i32::MAX);
    }

    /// The helper announces that it ends, having nothing to do. False when it must not, because it was
    /// asked to leave: then it calls [`gone`](Helper::gone).
    pub fn end(&self) -> bool {
        self.change(AWAKE, ABSENT)
    }

    /// True when the helper has been asked to leave.
    pub fn must_leave(&self) -> bool {
        self.state.load(Ordering::Acquire) == LEAVING
    }

    /// Makes the helper leave, and waits until it has; no other starts before everybody who stopped it
    /// has called [`allow`](Helper::allow). True when there was one.
    pub fn stop(&self) -> bool {
        let mut was_there = false;
        loop {
            let state = self.state.load(Ordering::Acquire);
            match state {
                ABSENT if self.change(ABSENT, BARRED) => return was_there,
                AWAKE | ASLEEP if self.change(state, LEAVING) => {
                    was_there = true;
                    futex_wake(&self.state, i32::MAX);
                }
                LEAVING => futex_wait(&self.state, LEAVING, None),
                BARRED.. if self.change(state, state + 1) => return was_there,
                _ => {}
            }
        }
    }

    /// Takes one [`stop`](Helper::stop) back.
    pub fn allow(&self) {
        loop {
            let state = self.state.load(Ordering::Relaxed);
            let fewer = if state > BARRED { state - 1 } else { ABSENT };
            // In a child that was forked meanwhile, nothing bars it.
            if state < BARRED || self.change(state, fewer) {
                return;
            }
        }
    }

    /// The helper's sleep: until it is woken or asked to leave, or not at all when `turn`, one more
    /// look, says that something is waiting. Every `millis` it may check, and end its sleep.
    pub fn sleep(&self, turn: impl FnOnce() -> bool, millis: u64, look_round: impl Fn() -> bool) {
        if !self.change(AWAKE, ASLEEP) {
            return;
        }
        if turn() {
            self.change(ASLEEP, AWAKE);
            return;
        }
        while self.state.load(Ordering::Acquire) == ASLEEP {
            futex_wait(&self.state, ASLEEP, Some(millis));
            if look_round() {
                // Unless somebody has woken it meanwhile, or asked it to leave.
                self.change(ASLEEP, AWAKE);
                return;
            }
        }
    }

    /// The helper's pause between two turns, unless it is asked to leave.
    pub fn nap(&self, millis: u64) {
        futex_wait(&self.state, AWAKE, Some(millis));
    }

    fn change(&self, from: u32, to: u32) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}
