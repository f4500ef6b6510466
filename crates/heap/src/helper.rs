//! When the helper thread that gives memory back starts, sleeps and wakes.
//!
//! A flush tells of its bytes *after* it has let go of the lock under which it freed them. The
//! helper declares itself asleep, then looks once more, taking the same locks. So either that look
//! finds what was freed, or the flush finds the helper asleep and wakes it.

use crate::sync::{AtomicU32, AtomicUsize, Ordering, const_fn, futex_wait, futex_wake};

/// Bytes freed to slabs and source before the helper is started.
pub const START_AFTER: usize = 4 << 20;
/// Bytes freed before a sleeping helper is woken.
pub const WAKE_AFTER: usize = START_AFTER / 4;

const ABSENT: u32 = 0;
const AWAKE: u32 = 1;
const ASLEEP: u32 = 2;

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

    /// True while the helper works, and needs not be told of anything.
    #[inline]
    pub fn is_awake(&self) -> bool {
        self.state.load(Ordering::Relaxed) == AWAKE
    }

    /// Told that `bytes` were freed while the helper does not work. Wakes it where that pays. True
    /// when there is none and enough was freed to start one.
    pub fn note(&self, bytes: usize) -> bool {
        // Threads may overwrite each other's counts: a helper that starts a little later is no harm.
        let freed = self.freed.load(Ordering::Relaxed).wrapping_add(bytes);
        self.freed.store(freed, Ordering::Relaxed);
        if self.state.load(Ordering::Acquire) == ASLEEP {
            if freed >= WAKE_AFTER && self.change(ASLEEP, AWAKE) {
                self.freed.store(0, Ordering::Relaxed);
                futex_wake(&self.state, 1);
            }
            return false;
        }
        if freed < START_AFTER {
            return false;
        }
        self.freed.store(0, Ordering::Relaxed);
        true
    }

    /// True when the caller is the one to start the helper.
    pub fn claim(&self) -> bool {
        self.change(ABSENT, AWAKE)
    }

    /// There is no helper (any more).
    pub fn gone(&self) {
        self.state.store(ABSENT, Ordering::Release);
    }

    /// The helper's sleep: until it is woken, or not at all when `turn`, one more look, says that
    /// something waits.
    pub fn sleep(&self, turn: impl FnOnce() -> bool) {
        if !self.change(AWAKE, ASLEEP) {
            return;
        }
        if turn() {
            self.state.store(AWAKE, Ordering::Release);
            return;
        }
        while self.state.load(Ordering::Acquire) == ASLEEP {
            futex_wait(&self.state, ASLEEP, None);
        }
    }

    fn change(&self, from: u32, to: u32) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}
