//! Statistics: totals of each thread's frames (feature `stats`).

use crate::rows::row_a_thread;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The totals of frames on all threads, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Allocations.
    pub allocations: u64,
    /// Bytes of the allocations, each rounded up to its alignment.
    pub bytes: u64,
    /// Frames that have ended; scopes are not counted.
    pub frames: u64,
    /// Bytes used by the largest frame, with padding and skipped ends of chunks.
    pub largest: u64,
}

/// A thread's counters.
#[derive(Default)]
struct Row {
    allocations: AtomicU64,
    bytes: AtomicU64,
    frames: AtomicU64,
    largest: AtomicU64,
}

row_a_thread!(ROWS: Row, fit |_| true, leave |_| {});

/// Adds to a counter that only this thread writes.
#[inline(always)]
fn add(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Relaxed) + n, Relaxed);
}

/// Notes an allocation.
#[inline(always)]
pub(crate) fn note(bytes: usize) {
    if let Some(row) = own() {
        add(&row.allocations, 1);
        add(&row.bytes, bytes as u64);
    }
}

/// Notes that the newest allocation grows.
#[inline]
pub(crate) fn grown(bytes: usize) {
    if let Some(row) = own() {
        add(&row.bytes, bytes as u64);
    }
}

/// Whether a guard's end is counted.
pub(crate) struct Counted(bool);

impl Counted {
    /// The guard of a frame.
    pub(crate) const FRAME: Counted = Counted(true);
    /// The guard of a scope.
    pub(crate) const SCOPE: Counted = Counted(false);

    /// A frame or scope ends.
    #[inline]
    pub(crate) fn end(&self, used: impl FnOnce() -> usize) {
        if let (true, Some(row)) = (self.0, own()) {
            add(&row.frames, 1);
            let used = used() as u64;
            if used > row.largest.load(Relaxed) {
                row.largest.store(used, Relaxed);
            }
        }
    }
}

/// The totals so far. Exact for threads that are not in a frame now.
///
/// ```
/// use allod_frame::{Arena, stats};
/// let before = stats::read();
/// Arena::new().frame(|f| {
///     f.alloc([0u8; 100]);
///     f.alloc(0u32);
/// });
/// let used = stats::read().since(&before);
/// assert_eq!((used.allocations, used.bytes, used.frames), (2, 104, 1));
/// ```
#[must_use]
pub fn read() -> Stats {
    let mut sum = Stats::default();
    ROWS.each(|row| {
        sum.allocations += row.allocations.load(Relaxed);
        sum.bytes += row.bytes.load(Relaxed);
        sum.frames += row.frames.load(Relaxed);
        sum.largest = sum.largest.max(row.largest.load(Relaxed));
    });
    sum
}

impl Stats {
    /// The difference from an earlier reading; the largest frame is that of all time.
    #[must_use]
    pub fn since(&self, earlier: &Stats) -> Stats {
        Stats {
            allocations: self.allocations.saturating_sub(earlier.allocations),
            bytes: self.bytes.saturating_sub(earlier.bytes),
            frames: self.frames.saturating_sub(earlier.frames),
            largest: self.largest,
        }
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} allocations, {} bytes, in {} frames; the largest frame used {} bytes",
            self.allocations, self.bytes, self.frames, self.largest
        )
    }
}
