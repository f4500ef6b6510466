//! A lock of one word that knows its owner: spin briefly, then sleep on the futex.
//!
//! ```text
//!   63                                     2    1       0
//!  ┌────────────────────────────────────────┬───────┬─────────┐
//!  │ the owner's thread pointer             │ fork  │ waiters │     0: free
//!  └────────────────────────────────────────┴───────┴─────────┘
//! ```
//! A thread pointer is a multiple of 4 that no two threads share. The futex sees the lower half: two
//! owners may look the same there, but a sleeper waits for a word with waiters, whose owner wakes one.
//!
//! A thread that finds its own mark in a lock was interrupted while it held it: it now runs a signal
//! handler, or a fork handler. [`Lock::enter`] then returns `None` instead of waiting for
//! itself. A lock that was taken for a fork guards data in a consistent state, so the thread that prepares the fork
//! may go on using them: the lock is lent to it.
//!
//! The waiting follows Drepper, "Futexes are tricky", mutex 3. Zeroed memory is a free lock.
//! `crates/models` explores this file with loom.

use crate::sync::{
    AtomicUsize, FORK_SPINS, Ordering, SPINS, const_fn, count_wait, futex_wait_word,
    futex_wake_word, spin_loop, thread_mark,
};

/// How long a thread sleeps before it looks at the lock again, in milliseconds.
const LOOK_AGAIN_AFTER: u64 = 5;
const WAITERS: usize = 1;
const FORK: usize = 2;

/// A lock that guards data kept elsewhere. All zero bytes: a free lock. Not reentrant.
#[derive(Debug)]
#[repr(transparent)]
pub struct Lock(AtomicUsize);

/// A lock that is held; dropping the value releases it.
#[derive(Debug)]
#[must_use = "the lock is released when this value is dropped"]
pub struct Held<'a> {
    lock: &'a Lock,
    lent: bool,
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.lent {
            self.lock.0.fetch_or(FORK, Ordering::Release);
        } else {
            self.lock.unlock();
        }
    }
}

impl Default for Lock {
    fn default() -> Self {
        Self::new()
    }
}

/// What the calling thread writes into locks that it holds.
#[inline]
fn mine() -> usize {
    thread_mark()
}

impl Lock {
    const_fn! {
        /// A free lock.
        pub fn new() -> Lock {
            Lock(AtomicUsize::new(0))
        }
    }

    /// Takes the lock, sleeping while another thread holds it. `None` when the calling thread holds
    /// it already: a signal handler interrupted it there.
    #[inline]
    pub fn enter(&self) -> Option<Held<'_>> {
        let me = mine();
        if self.exchange(0, me) {
            return Some(Held { lock: self, lent: false });
        }
        self.enter_contended(me)
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_enter(&self) -> Option<Held<'_>> {
        self.exchange(0, mine()).then(|| Held { lock: self, lent: false })
    }

    /// Takes the lock, sleeping while another thread holds it. For locks that no signal handler or
    /// fork handler takes while their thread holds them.
    #[inline]
    pub fn lock(&self) {
        let me = mine();
        if !self.exchange(0, me) {
            self.wait(me);
        }
    }

    /// Takes the lock if it is free.
    #[inline]
    #[must_use]
    pub fn try_lock(&self) -> bool {
        self.exchange(0, mine())
    }

    /// Releases the lock. Only its holder may call this.
    #[inline]
    pub fn unlock(&self) {
        if self.0.swap(0, Ordering::Release) & WAITERS != 0 {
            futex_wake_word(&self.0, 1);
        }
    }

    /// Holds the lock while a closure runs.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        self.lock();
        let r = f();
        self.unlock();
        r
    }

    /// True when the calling thread holds the lock, having been interrupted there, and not for a fork.
    pub fn interrupted_here(&self) -> bool {
        self.0.load(Ordering::Relaxed) & !WAITERS == mine()
    }

    /// True when the calling thread holds the lock for a fork.
    pub fn is_lent_here(&self) -> bool {
        self.0.load(Ordering::Relaxed) & !WAITERS == mine() | FORK
    }

    /// True when any thread holds the lock.
    pub fn is_held(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Takes the lock for a fork, unless the calling thread holds it already. With `patient` it
    /// sleeps until the lock is free; without, it gives up after a while. Whether it was taken does
    /// not matter to [`release_after_fork`](Lock::release_after_fork).
    pub fn hold_for_fork(&self, patient: bool) {
        let me = mine();
        if self.0.load(Ordering::Relaxed) & !(WAITERS | FORK) == me {
            return;
        }
        if patient {
            self.lock();
        } else if !(0..FORK_SPINS).any(|_| {
            spin_loop();
            self.exchange(0, me)
        }) {
            return;
        }
        self.0.fetch_or(FORK, Ordering::Relaxed);
    }

    /// Releases the lock, in parent or child, if [`hold_for_fork`](Lock::hold_for_fork) took it.
    pub fn release_after_fork(&self) {
        if self.is_lent_here() {
            self.unlock();
        }
    }

    /// Frees the lock in a forked child, whoever held it, unless the child's only thread was
    /// interrupted while it did. For locks whose data are consistent at every moment.
    pub fn reset_in_child(&self) {
        if !self.interrupted_here() {
            self.0.store(0, Ordering::Relaxed);
        }
    }

    #[inline]
    fn exchange(&self, from: usize, to: usize) -> bool {
        self.0.compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn enter_contended(&self, me: usize) -> Option<Held<'_>> {
        // Only this thread writes its own mark, so what is seen of it is current.
        let seen = self.0.load(Ordering::Relaxed);
        if seen & !(WAITERS | FORK) != me {
            self.wait(me);
            return Some(Held { lock: self, lent: false });
        }
        // Consistent, unless this thread was interrupted after it had borrowed the lock.
        (seen & FORK != 0).then(|| {
            self.0.fetch_and(!FORK, Ordering::Acquire);
            Held { lock: self, lent: true }
        })
    }

    #[cold]
    fn wait(&self, me: usize) {
        for _ in 0..SPINS {
            if self.0.load(Ordering::Relaxed) == 0 && self.exchange(0, me) {
                return;
            }
            spin_loop();
        }
        count_wait();
        loop {
            let seen = self.0.load(Ordering::Relaxed);
            if seen == 0 {
                // Others may be sleeping, too: the thread that woke up keeps the waiters mark for them.
                if self.exchange(0, me | WAITERS) {
                    return;
                }
            } else if seen & WAITERS != 0 || self.mark_waiters(seen) {
                // A signal handler may keep the woken thread from taking the lock,
                // and may itself wait for others here: so sleepers look again after a while.
                futex_wait_word(&self.0, seen | WAITERS, Some(LOOK_AGAIN_AFTER));
            }
        }
    }

    fn mark_waiters(&self, seen: usize) -> bool {
        let marked = seen | WAITERS;
        self.0.compare_exchange(seen, marked, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}
