//! Who may touch a thread's unsent parcels: the thread at almost no cost, or the helper once the thread
//! has been idle.
//!
//! ```text
//!  thread                            helper
//!  uses: odd                         revoked: yes
//!  light barrier                     heavy barrier (every thread of the process passes a full one)
//!  revoked? then not now             uses odd, or changed? then not now
//!  … parcels …                       … parcels …
//!  uses: even                        revoked: no
//! ```
//! Both write one word, then read the other's, so one of them at least sees the other (Dekker). The thread
//! pays two plain stores and a load; the helper enforces their order in the processor, with
//! `membarrier`, once per turn.

use crate::base::sync::{AtomicU32, Ordering, const_fn, light_barrier};

/// The two words, and what the helper remembers.
#[derive(Debug)]
pub struct Lease {
    /// Odd while the thread uses its parcels; grows by two with each use.
    uses: AtomicU32,
    /// 1 while the helper wants them.
    revoked: AtomicU32,
    /// `uses` as the helper last saw it. The helper's only.
    seen: AtomicU32,
}

/// The thread uses its parcels; dropping the value ends that.
#[must_use = "the use ends when this value is dropped"]
pub struct Use<'a>(&'a Lease, u32);

impl Drop for Use<'_> {
    #[inline]
    fn drop(&mut self) {
        // Release: whoever finds the word even finds the parcels as they were left.
        self.0.uses.store(self.1.wrapping_add(2), Ordering::Release);
    }
}

impl Lease {
    const_fn! {
        /// Not used yet.
        pub fn new() -> Lease {
            Lease { uses: AtomicU32::new(0), revoked: AtomicU32::new(0), seen: AtomicU32::new(0) }
        }
    }

    /// The thread wants its parcels. `None` while the helper has them, or when the thread was interrupted
    /// in the middle of a use.
    #[inline]
    pub fn begin(&self) -> Option<Use<'_>> {
        let uses = self.uses.load(Ordering::Relaxed);
        if uses & 1 == 1 {
            return None;
        }
        self.uses.store(uses.wrapping_add(1), Ordering::Relaxed);
        light_barrier();
        let begun = Use(self, uses);
        // Acquire: the parcels are as the helper left them.
        (self.revoked.load(Ordering::Acquire) == 0).then_some(begun)
    }

    /// The helper wants the parcels if the thread has not used them since it last asked. A heavy barrier
    /// has to follow.
    pub fn revoke_if_idle(&self) -> bool {
        let uses = self.uses.load(Ordering::Relaxed);
        let seen = self.seen.load(Ordering::Relaxed);
        self.seen.store(uses, Ordering::Relaxed);
        let is_idle = uses == seen && uses & 1 == 0;
        if is_idle {
            self.revoked.store(1, Ordering::Relaxed);
        }
        is_idle
    }

    /// True between [`revoke_if_idle`](Lease::revoke_if_idle) and [`restore`](Lease::restore).
    pub fn is_revoked(&self) -> bool {
        self.revoked.load(Ordering::Relaxed) == 1
    }

    /// True when the helper has the parcels: the thread is still idle. After the heavy barrier.
    pub fn is_taken(&self) -> bool {
        self.uses.load(Ordering::Acquire) == self.seen.load(Ordering::Relaxed)
    }

    /// The helper is done.
    pub fn restore(&self) {
        self.revoked.store(0, Ordering::Release);
    }

    /// In a forked child: there is no helper, and of threads only the caller, whose own lease this
    /// is or is not.
    pub fn forked(&self, own: bool) {
        self.revoked.store(0, Ordering::Relaxed);
        if !own {
            let uses = self.uses.load(Ordering::Relaxed);
            self.uses.store(uses.wrapping_add(uses & 1), Ordering::Relaxed);
        }
    }
}
