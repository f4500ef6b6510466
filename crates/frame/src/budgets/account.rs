//! One account: a budget's use, and its limits.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The limits of a budget, in bytes; none to begin with.
///
/// ```
/// use allod_frame::budgets::Limits;
/// let limits = Limits::none().soft(48 << 10).hard(64 << 10);
/// assert_eq!((limits.soft, limits.hard), (Some(48 << 10), Some(64 << 10)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Above it the callback is called, once until the use falls back to it.
    pub soft: Option<usize>,
    /// Above it allocations are refused.
    pub hard: Option<usize>,
}

impl Limits {
    /// No limits.
    #[must_use]
    pub const fn none() -> Limits {
        Limits { soft: None, hard: None }
    }

    /// These limits with this soft limit.
    #[must_use]
    pub const fn soft(self, bytes: usize) -> Limits {
        Limits { soft: Some(bytes), ..self }
    }

    /// These limits with this hard limit.
    #[must_use]
    pub const fn hard(self, bytes: usize) -> Limits {
        Limits { hard: Some(bytes), ..self }
    }
}

/// Absent limits are `usize::MAX`, which nothing exceeds.
pub(super) struct Account {
    /// Bytes in use, including those reserved by threads.
    used: AtomicUsize,
    soft: AtomicUsize,
    hard: AtomicUsize,
    /// The soft limit is exceeded, and the callback knows.
    told: AtomicBool,
}

impl Account {
    pub(super) const fn new() -> Account {
        Account {
            used: AtomicUsize::new(0),
            soft: AtomicUsize::new(usize::MAX),
            hard: AtomicUsize::new(usize::MAX),
            told: AtomicBool::new(false),
        }
    }

    pub(super) fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    pub(super) fn set(&self, limits: Limits) {
        self.soft.store(limits.soft.unwrap_or(usize::MAX), Relaxed);
        self.hard.store(limits.hard.unwrap_or(usize::MAX), Relaxed);
        self.told.store(false, Relaxed);
    }

    pub(super) fn limits(&self) -> Limits {
        let limit = |bytes: usize| (bytes != usize::MAX).then_some(bytes);
        Limits { soft: limit(self.soft.load(Relaxed)), hard: limit(self.hard.load(Relaxed)) }
    }

    /// Bytes up to the next limit.
    pub(super) fn room(&self) -> usize {
        let (used, soft, hard) = (self.used(), self.soft.load(Relaxed), self.hard.load(Relaxed));
        let limit = if used <= soft { soft.min(hard) } else { hard };
        limit.saturating_sub(used)
    }

    /// Takes bytes from the budget; false, with nothing taken, if that would exceed the hard
    /// limit.
    pub(super) fn take(&self, bytes: usize, may_exceed: bool) -> bool {
        let hard = if may_exceed { usize::MAX } else { self.hard.load(Relaxed) };
        let more = |used: usize| used.checked_add(bytes).filter(|used| *used <= hard);
        self.used.fetch_update(Relaxed, Relaxed, more).is_ok()
    }

    /// Puts bytes back.
    pub(super) fn give(&self, bytes: usize) {
        let used = self.used.fetch_sub(bytes, Relaxed) - bytes;
        if self.told.load(Relaxed) && used <= self.soft.load(Relaxed) {
            self.told.store(false, Relaxed);
        }
    }

    /// The soft limit, if it has been exceeded since this was last asked.
    pub(super) fn newly_exceeded(&self) -> Option<usize> {
        let soft = self.soft.load(Relaxed);
        (self.used() > soft && !self.told.swap(true, Relaxed)).then_some(soft)
    }

    pub(super) fn hard(&self) -> usize {
        self.hard.load(Relaxed)
    }
}
