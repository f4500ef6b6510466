//! Who keeps a region alive: the state machine between create and reclaim.
//!
//! ```text
//!            create                exit, nothing else holds it
//!   pooled ─────────▶ scope open ─────────────────────────────▶ reclaimable ─▶ pooled
//!                         │ exit                                     ▲
//!                         ├──────▶ closing: references left ─────────┤ last release
//!                         └──────▶ pinned: tethers left ─────────────┘ last untether
//! ```
//! Two words count. `local` belongs to the owner, the thread that created or adopted the region, and is
//! changed by plain loads and stores: the scope, the owner's tethers and, until the region is shared,
//! its references. `shared` is zero until [`Counts::share`]; from then on it counts references, other
//! threads' tethers, and **one** for the owner while the owner holds anything in `local`. So the owner
//! pays for atomics only when it shares, and when it releases its last hold.
//!
//! Invariant: whoever removes the last count gets [`Left::Reclaim`], exactly once, and everything
//! other threads did with the region happens before that. `crates/models` checks this file with loom.

use crate::base::check::CHECKED;
use crate::base::sync::{AtomicU64, AtomicUsize, Ordering};
use Ordering::{AcqRel, Relaxed, Release};

const OPEN: u64 = 1;
const EXTRA: u64 = 2;
const SHARED: u64 = 4;
/// Low, so that counting a tether is one instruction with an immediate operand.
const TETHER: u64 = 1 << 3;
const TETHERS: u64 = (1 << 32) - TETHER;
const REF: u64 = 1 << 32;
const REFS: u64 = !0 << 32;
const HELD: u64 = OPEN | REFS | TETHERS;

/// Marks `shared` as in use; the count is in the bits below.
const SHARED_MARK: u64 = 1 << 63;

/// What is to be done after a count went down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Left {
    /// Somebody still holds the region.
    Alive,
    /// Nobody does: the caller reclaims it.
    Reclaim,
}

/// A count was used wrongly. Found in debug and `validate` builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// The scope is not open: exit twice, or use after exit.
    NotOpen,
    /// A release or untether without its retain or tether, or of a region that is gone.
    BelowZero,
    /// Another thread's use of a region that was never shared.
    NotShared,
    /// A retain or tether of a region that nobody holds any longer.
    Gone,
}

impl core::fmt::Display for Misuse {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Misuse::NotOpen => "its scope is not open (exit twice, or use after exit)",
            Misuse::BelowZero => "a release or untether without its retain or tether",
            Misuse::NotShared => {
                "another thread uses it, but it was never shared; call share first"
            }
            Misuse::Gone => "a retain or tether of a region that is gone",
        })
    }
}

/// The state of a region, as [`Counts::state`] returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// In a pool, or on its way there.
    Pooled,
    /// The scope is open.
    Open,
    /// The scope has been left; tethers pin the region.
    Pinned,
    /// The scope has been left; references keep the region.
    Closing,
}

/// The counts of one region.
#[repr(C)]
#[derive(Debug)]
pub struct Counts {
    local: AtomicU64,
    shared: AtomicU64,
    owner: AtomicUsize,
}

impl Default for Counts {
    fn default() -> Self {
        Self::new()
    }
}

impl Counts {
    /// The counts of a pooled region without an owner.
    pub fn new() -> Counts {
        Counts { local: AtomicU64::new(0), shared: AtomicU64::new(0), owner: AtomicUsize::new(0) }
    }

    /// Opens the scope of a pooled region for its owner.
    #[inline(always)]
    pub fn open(&self) {
        self.local.store(OPEN, Relaxed);
    }

    /// Notes that reclaiming has more to do than reset the cursor. Owner only.
    #[inline]
    pub fn set_extra(&self) {
        self.local.store(self.local.load(Relaxed) | EXTRA, Relaxed);
    }

    /// True when the scope is open and there is nothing else to clean up, so that
    /// [`Counts::exit_plain`] may end it. Owner only.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.local.load(Relaxed) == OPEN
    }

    /// Ends a plain scope.
    #[inline(always)]
    pub fn exit_plain(&self) {
        self.local.store(0, Relaxed);
    }

    /// Leaves the scope. Owner only.
    ///
    /// # Errors
    /// When the scope is not open.
    pub fn exit(&self) -> Result<Left, Misuse> {
        let l = self.local.load(Relaxed);
        if l & OPEN == 0 {
            return Err(Misuse::NotOpen);
        }
        Ok(self.settle(l & !OPEN))
    }

    /// Stores what the owner still holds; when that is nothing, gives up the owner's share.
    fn settle(&self, l: u64) -> Left {
        if l & HELD != 0 {
            self.local.store(l, Relaxed);
            return Left::Alive;
        }
        self.local.store(l & EXTRA, Relaxed);
        if l & SHARED == 0 {
            return Left::Reclaim;
        }
        // Before the count goes: afterwards the region may be gone.
        self.owner.store(0, Relaxed);
        Self::left(self.shared.fetch_sub(1, AcqRel))
    }

    fn left(before: u64) -> Left {
        if before == SHARED_MARK | 1 { Left::Reclaim } else { Left::Alive }
    }

    /// Adds a reference.
    ///
    /// # Errors
    /// When nobody holds the region any more.
    #[inline]
    pub fn retain(&self) -> Result<(), Misuse> {
        if self.shared.load(Relaxed) != 0 {
            let before = self.shared.fetch_add(1, Relaxed);
            return if before == SHARED_MARK { Err(Misuse::Gone) } else { Ok(()) };
        }
        let l = self.local.load(Relaxed);
        if l & HELD == 0 {
            return Err(Misuse::Gone);
        }
        // As in std's Rc: leaked references must not overflow the count to zero. Half of the range is out of
        // reach, so that tethers, whose count overflows into that of references, cannot do it either.
        if l >> 63 != 0 {
            panic!("allod region: more than 2147483648 references to one region");
        }
        self.local.store(l + REF, Relaxed);
        Ok(())
    }

    /// Removes a reference.
    ///
    /// # Errors
    /// When there is none.
    #[inline]
    pub fn release(&self) -> Result<Left, Misuse> {
        if self.shared.load(Relaxed) != 0 {
            return self.release_shared();
        }
        let l = self.local.load(Relaxed);
        if l & REFS == 0 {
            return Err(Misuse::BelowZero);
        }
        Ok(self.settle(l - REF))
    }

    fn release_shared(&self) -> Result<Left, Misuse> {
        let before = self.shared.fetch_sub(1, AcqRel);
        if before & !SHARED_MARK == 0 {
            return Err(Misuse::BelowZero);
        }
        Ok(Self::left(before))
    }

    /// Makes the counts ready for other threads. Owner only, before another thread can see the
    /// region; idempotent.
    pub fn share(&self) {
        let l = self.local.load(Relaxed);
        if l & SHARED != 0 || self.shared.load(Relaxed) != 0 {
            return;
        }
        let refs = (l & REFS) / REF;
        let held = l & (OPEN | TETHERS) != 0;
        if !held {
            self.owner.store(0, Relaxed);
        }
        self.local.store((l & !REFS) | SHARED, Relaxed);
        self.shared.store(SHARED_MARK | (refs + u64::from(held)), Release);
    }

    /// True once [`Counts::share`] was called.
    #[inline]
    pub fn is_shared(&self) -> bool {
        self.shared.load(Relaxed) != 0
    }

    /// Pins the region for thread `me`: a plain increment for the owner, one atomic for others.
    ///
    /// # Errors
    /// When another thread uses a region that was never shared, or, in checked builds, when nobody holds
    /// the region any more.
    #[inline(always)]
    pub fn tether(&self, me: usize) -> Result<(), Misuse> {
        if self.owner.load(Relaxed) == me {
            if CHECKED && !self.is_held() {
                return Err(Misuse::Gone);
            }
            self.tether_owner();
            return Ok(());
        }
        if self.shared.fetch_add(1, Relaxed) & !SHARED_MARK == 0 {
            return Err(Misuse::NotShared);
        }
        Ok(())
    }

    /// [`Counts::tether`] by the owner: one plain increment.
    #[inline(always)]
    pub fn tether_owner(&self) {
        self.local.store(self.local.load(Relaxed) + TETHER, Relaxed);
    }

    /// Ends a tether that thread `me` began.
    ///
    /// # Errors
    /// When there is none.
    #[inline(always)]
    pub fn untether(&self, me: usize) -> Result<Left, Misuse> {
        if self.owner.load(Relaxed) == me { self.untether_owner() } else { self.release_shared() }
    }

    /// [`Counts::untether`] by the owner: one plain decrement.
    ///
    /// # Errors
    /// When the owner has no tether; found in checked builds.
    #[inline(always)]
    pub fn untether_owner(&self) -> Result<Left, Misuse> {
        let l = self.local.load(Relaxed);
        if CHECKED && l & TETHERS == 0 {
            return Err(Misuse::BelowZero);
        }
        let rest = l.wrapping_sub(TETHER);
        if rest & HELD == 0 {
            return Ok(self.settle(rest));
        }
        self.local.store(rest, Relaxed);
        Ok(Left::Alive)
    }

    /// True when a scope, a reference or a tether holds the region, as the owner sees it.
    pub fn is_held(&self) -> bool {
        self.state() != State::Pooled
    }

    /// True when `me` is the owner.
    #[inline(always)]
    pub fn is_owner(&self, me: usize) -> bool {
        self.owner.load(Relaxed) == me
    }

    /// True when the open scope is all that holds the region: nobody has a reference or a tether.
    pub fn only_open(&self) -> bool {
        self.local.load(Relaxed) & HELD == OPEN
            && self.shared.load(Relaxed) & !SHARED_MARK
                == u64::from(self.local.load(Relaxed) & SHARED != 0)
    }

    /// Makes `me` the owner of a region that travels between threads; 0 while it is in transit.
    pub fn set_owner(&self, me: usize) {
        self.owner.store(me, Relaxed);
    }

    /// Back to the state of a pooled region of thread `me`, which reclaims it.
    pub fn reset(&self, me: usize) {
        self.local.store(0, Relaxed);
        self.shared.store(0, Relaxed);
        self.owner.store(me, Relaxed);
    }

    /// The state of the region, as the owner sees it.
    pub fn state(&self) -> State {
        let l = self.local.load(Relaxed);
        if l & OPEN != 0 {
            State::Open
        } else if l & TETHERS != 0 {
            State::Pinned
        } else if l & REFS != 0 || self.shared.load(Relaxed) & !SHARED_MARK != 0 {
            State::Closing
        } else {
            State::Pooled
        }
    }
}
