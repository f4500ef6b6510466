//! Whose turn it is to open units: one thread's at a time. Others that need units sleep meanwhile.

use crate::base::sync::{AtomicUsize, Ordering, const_fn, futex_wait_word, futex_wake_word};
use allod_os::thread;

/// The thread that opens units: 0, or its thread pointer.
pub struct Opener(AtomicUsize);

/// Who opens units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The calling thread, until it calls [`Opener::end`].
    Mine,
    /// Another did, and may be done.
    Waited,
    /// The calling thread, which was interrupted there.
    Reentered,
    /// Another does, for which the caller must not wait.
    Taken,
}

impl Opener {
    const_fn! {
        /// Nobody opens units.
        pub fn new() -> Opener {
            Opener(AtomicUsize::new(0))
        }
    }

    /// Makes it the calling thread's turn, or sleeps until the thread whose turn it is has ended it. With
    /// `wait` false it does not sleep: for callers that hold a lock that the other thread needs to end its turn
    /// (the source's, lent for a fork).
    pub fn begin(&self, wait: bool) -> Turn {
        let me = thread::pointer();
        match self.0.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Turn::Mine,
            Err(other) if other == me => Turn::Reentered,
            Err(_) if !wait => Turn::Taken,
            Err(other) => {
                futex_wait_word(&self.0, other, None);
                Turn::Waited
            }
        }
    }

    /// Ends the calling thread's turn.
    pub fn end(&self) {
        self.0.store(0, Ordering::Release);
        futex_wake_word(&self.0, i32::MAX);
    }

    /// True when the calling thread was interrupted during its turn.
    pub fn is_mine(&self) -> bool {
        self.0.load(Ordering::Relaxed) == thread::pointer()
    }

    /// In a forked child: ends the turn of a thread that the child does not have.
    pub fn forked(&self) {
        if !self.is_mine() {
            self.0.store(0, Ordering::Relaxed);
        }
    }
}
