//! The page of live counters: a small file that a watcher creates, and that the watched process
//! fills about ten times a second for as long as it is watched.
//!
//! ```text
//!   word 0   1        2     3      4         5        6 …
//!   ┌───────┬────────┬─────┬──────┬─────────┬────────┬───────────────────────────────┐
//!   │ magic │ version│ beat│ left │ answered│ written│ counters                      │
//!   └───────┴────────┴─────┴──────┴─────────┴────────┴───────────────────────────────┘
//!     the watcher's          the process's
//! ```
//! All words have 64 bits in the machine's byte order. The watcher creates the file under the name that [`name`]
//! gives, accessible to the process's user only; it writes magic and version, and a new number into
//! `beat` at least once a second. The process writes its own version into `answered`. If the two agree,
//! it makes `written` odd, writes the counters, and makes it even: a reader that sees the same even number before and
//! after the counters has read a consistent state. When `beat` has not changed for a few seconds, the process
//! removes the file, writes 1 into `left` and drops the page.
//!
//! The first six words have the same meaning in all versions.

use core::ffi::CStr;

/// The value of the first word.
pub const MAGIC: u64 = u64::from_le_bytes(*b"allodtop");
/// The version of the counters. Another one for every change of [`Counters`].
pub const VERSION: u64 = 1;
/// The index of each word before the counters, and of the first counter.
pub mod word {
    /// [`MAGIC`](super::MAGIC).
    pub const MAGIC: usize = 0;
    /// The watcher's version.
    pub const VERSION: usize = 1;
    /// Changes while somebody watches.
    pub const BEAT: usize = 2;
    /// 1 once the process has forgotten the page.
    pub const LEFT: usize = 3;
    /// The process's version; 0 before it has seen the page.
    pub const ANSWERED: usize = 4;
    /// Odd while the counters are being written.
    pub const WRITTEN: usize = 5;
    /// The first of the counters.
    pub const COUNTERS: usize = 6;
}
/// Words of the counters.
pub const COUNTER_WORDS: usize = size_of::<Counters>() / 8;
/// Bytes of the file.
pub const BYTES: usize = (word::COUNTERS + COUNTER_WORDS) * 8;
/// The folder of all pages.
pub const FOLDER: &str = "/dev/shm";
/// Bands of small blocks, B0 to B7, and one for medium blocks.
pub const BANDS: usize = 9;
/// Heaps that there is room for; if there are more, the ones with the most memory.
pub const HEAPS: usize = 64;

/// The state of a process's memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// When this was taken, in microseconds on the monotonic clock.
    pub taken_us: u64,
    /// Sums for the process.
    pub totals: Totals,
    /// By size of block: B0 to B7, then medium blocks.
    pub bands: [Band; BANDS],
    /// Number of heaps in use; as many as there is room for are listed below.
    pub heap_count: u64,
    /// Heaps, those with the most memory first; the rest is zero.
    pub heaps: [HeapRow; HEAPS],
}

/// Sums for the process, with the meanings of [`Stats`](crate::stats::Stats).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes in blocks of up to 1 MiB that the program holds.
    pub small_bytes: u64,
    /// Bytes in large blocks.
    pub large_bytes: u64,
    /// Bytes in spans of regions.
    pub region_bytes: u64,
    /// Bytes in spans of frames.
    pub frame_bytes: u64,
    /// Bytes in front caches.
    pub cached_bytes: u64,
    /// Bytes free in slabs.
    pub slab_free_bytes: u64,
    /// Bytes that heaps keep near.
    pub near_bytes: u64,
    /// Bytes free in the span source whose pages are still there.
    pub dirty_bytes: u64,
    /// Bytes of the heaps themselves and of parcels.
    pub internal_bytes: u64,
    /// Bytes of span map and span records.
    pub metadata_bytes: u64,
    /// Bytes in spans of all kinds.
    pub span_bytes: u64,
    /// The most there ever were.
    pub peak_span_bytes: u64,
    /// Bytes given back so far.
    pub purged_bytes: u64,
    /// Calls that gave memory back.
    pub purges: u64,
    /// Huge pages made so far.
    pub huge_pages: u64,
    /// Front caches filled so far.
    pub refills: u64,
    /// Bytes of blocks that left slabs for front caches so far.
    pub filled_bytes: u64,
    /// Front caches emptied by half so far.
    pub flushes: u64,
    /// Slabs made so far.
    pub slabs: u64,
    /// Parcels of blocks of other threads sent so far.
    pub parcels_sent: u64,
    /// Times that a thread went to sleep on a lock of Allod's.
    pub lock_waits: u64,
    /// 1 where allocations and frees are counted (feature `stats`).
    pub counts_calls: u64,
    /// Allocations so far, where they are counted.
    pub allocations: u64,
    /// Frees so far, where they are counted.
    pub frees: u64,
}

/// Blocks of one band.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Band {
    /// Bytes of its slabs.
    pub slab_bytes: u64,
    /// Bytes in blocks that the program holds.
    pub used_bytes: u64,
    /// Blocks that the program holds.
    pub used_blocks: u64,
    /// Bytes in front caches.
    pub cached_bytes: u64,
}

/// One heap: a thread's, one that its thread has left, or a first-class one.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapRow {
    /// A number that no other heap has; 0 for none.
    pub id: u64,
    /// The number of its thread, or of the last one; 0 for a first-class heap.
    pub thread: u64,
    /// 1 when its thread has ended.
    pub orphan: u64,
    /// Bytes in blocks that the program holds.
    pub used_bytes: u64,
    /// Bytes in front caches.
    pub cached_bytes: u64,
    /// Bytes free in slabs.
    pub free_bytes: u64,
    /// Bytes that it keeps near.
    pub near_bytes: u64,
    /// Front caches filled so far.
    pub refills: u64,
    /// Bytes of blocks that left slabs for front caches so far.
    pub filled_bytes: u64,
}

impl HeapRow {
    /// Bytes of the process's memory that the heap holds, used and unused.
    pub fn held_bytes(&self) -> u64 {
        self.used_bytes + self.cached_bytes + self.free_bytes + self.near_bytes
    }
}

impl Default for Counters {
    fn default() -> Counters {
        Counters {
            taken_us: 0,
            totals: Totals::default(),
            bands: [Band::default(); BANDS],
            heap_count: 0,
            heaps: [HeapRow::default(); HEAPS],
        }
    }
}

const _: () = assert!(size_of::<Counters>().is_multiple_of(8) && align_of::<Counters>() == 8);

impl Counters {
    /// The counters as words, as they lie in the file.
    pub fn words(&self) -> &[u64; COUNTER_WORDS] {
        // SAFETY: `Counters` and all in it are `repr(C)` and made of `u64`, so that there is no padding.
        unsafe { &*core::ptr::from_ref(self).cast() }
    }

    /// The counters that these words stand for.
    ///
    /// ```
    /// use allod_heap::page::Counters;
    /// let counters = Counters { taken_us: 7, ..Counters::default() };
    /// assert_eq!(Counters::from_words(counters.words()), counters);
    /// ```
    pub fn from_words(words: &[u64; COUNTER_WORDS]) -> Counters {
        // SAFETY: as for `words`; every value of a `u64` is one of its own.
        unsafe { core::ptr::from_ref(words).cast::<Counters>().read() }
    }
}

/// The name of a page's file, in [`FOLDER`].
#[derive(Clone, Copy, Debug)]
pub struct Name {
    bytes: [u8; 48],
}

/// The whole path of the page of a process, by the number that it has for itself.
///
/// ```
/// assert_eq!(allod_heap::page::name(123).path(), c"/dev/shm/allod-live-123");
/// ```
pub fn name(process: u32) -> Name {
    let mut bytes = [0; 48];
    let start = b"/dev/shm/allod-live-";
    bytes[..start.len()].copy_from_slice(start);
    let digits = 1 + process.checked_ilog10().unwrap_or(0) as usize;
    let mut rest = process;
    for at in (0..digits).rev() {
        bytes[start.len() + at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    Name { bytes }
}

impl Name {
    /// The path.
    pub fn path(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }
}
