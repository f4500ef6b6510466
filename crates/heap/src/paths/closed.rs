//! How the pages around a large block, and those of a freed one, are made inaccessible, in the hardened build.
//!
//! ```text
//!   a new span ─▶ guarded around its block ─▶ freed: guarded as a whole ─▶ opened where the next block lies, …
//! ```
//! By guard regions, if the system has them (Linux 6.13): they cost no mapping, of which a process can have 65,530, and a
//! freed block's memory goes back in the same system call. Otherwise by taking the access away. What was closed in one way is opened in the same.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crate::base::layout::UNIT;
use allod_os::vm;

/// Large blocks that may have closed pages around them at once: each takes up to four mappings.
const BUDGET: usize = 6 * 1024;

/// The longest span that becomes a guard region, 16 MiB: each page is marked one by one.
const MOST_GUARDED: usize = 256 * UNIT;

/// Spans of live blocks around which the access was taken away.
static GUARDED: AtomicUsize = AtomicUsize::new(0);

/// True once the system has refused a guard region.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// How what is closed in a span was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Closed {
    /// Nothing is.
    Not = 0,
    /// The pages cannot be accessed.
    Taken = 1,
    /// They are a guard region (`MADV_GUARD_INSTALL`).
    Guarded = 2,
}

/// Closes a new span of `len` bytes at `start`, except `from..to`.
///
/// # Safety
/// The pages are the caller's, open, and nothing in them is in use.
pub unsafe fn around(start: usize, len: usize, from: usize, to: usize) -> Closed {
    let end = start + len;
    // SAFETY: the caller's contract.
    unsafe {
        if len <= MOST_GUARDED && !REFUSED.load(Relaxed) {
            if vm::install_guard(start, from - start) {
                vm::install_guard(to, end - to);
                return Closed::Guarded;
            }
            REFUSED.store(true, Relaxed);
        }
        if GUARDED.fetch_add(1, Relaxed) < BUDGET && vm::close(start, from - start) {
            vm::close(to, end - to);
            return Closed::Taken;
        }
    }
    GUARDED.fetch_sub(1, Relaxed);
    Closed::Not
}

impl Closed {
    /// The variant with a number.
    pub fn from_number(number: u32) -> Closed {
        match number {
            1 => Closed::Taken,
            2 => Closed::Guarded,
            _ => Closed::Not,
        }
    }

    /// Notes that the block of a span was freed.
    pub fn forget(self) {
        if self == Closed::Taken {
            GUARDED.fetch_sub(1, Relaxed);
        }
    }

    /// Closes a range as a whole, and gives its memory back. Says how that was done, or that the system refuses.
    ///
    /// To close pages and to empty them takes half of the time that it takes to replace them; but where memory is counted
    /// by what could be written to, replaced pages no longer count, and locked ones cannot be emptied.
    ///
    /// # Safety
    /// The range is the caller's, and nobody uses it any more; whatever in it is closed was closed in this way.
    pub unsafe fn abandon(self, at: usize, len: usize, roomy: bool) -> Closed {
        // SAFETY: the caller's contract. Closed first: who writes meanwhile through a stale pointer is stopped.
        unsafe {
            if roomy && self == Closed::Guarded && vm::install_guard(at, len) {
                return Closed::Guarded;
            }
            let by_access = self != Closed::Guarded;
            let closed = roomy && by_access && vm::close(at, len) && vm::purge(at, len);
            if closed || vm::retire(at, len) { Closed::Taken } else { Closed::Not }
        }
    }

    /// Opens `len` bytes at `at` of an abandoned range for a block. False when the system refuses, or the budget is spent.
    ///
    /// # Safety
    /// The pages are the caller's, and were closed in this way.
    pub unsafe fn open(self, at: usize, len: usize) -> bool {
        // SAFETY: the caller's contract.
        unsafe {
            match self {
                Closed::Guarded => vm::remove_guard(at, len),
                Closed::Taken if GUARDED.fetch_add(1, Relaxed) < BUDGET && vm::open(at, len) => {
                    true
                }
                Closed::Taken => {
                    GUARDED.fetch_sub(1, Relaxed);
                    false
                }
                Closed::Not => false,
            }
        }
    }
}
