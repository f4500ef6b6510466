//! What the heap counts, and the report made of it.
//!
//! Counters of the slow paths are always on, one set a heap, summed when read. Counters of the fast
//! paths exist with the feature `stats` only; without it the functions here that count are empty
//! and the record has no size.

use crate::class::{CLASSES, band_of_class, size_of_class};
use crate::heap::{Heap, Standing, each_heap};
use crate::layout::UNIT_SHIFT;
use crate::map::{Bin, MAP};
use crate::record::{Kind, Span};
use crate::settings;
use crate::source::SOURCE;
use allod_os::io;
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicI32, AtomicPtr, Ordering::Relaxed};

/// Counters of a heap's slow paths, written with its lock held.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SlowCounters {
    /// Front caches filled from slabs or mail.
    pub refills: u64,
    /// Front caches emptied by half into slabs.
    pub flushes: u64,
    /// Slabs taken from the span source.
    pub slabs: u64,
    /// Slabs returned to the span source.
    pub slabs_released: u64,
    /// Parcels of remote frees sent.
    pub parcels_sent: u64,
    /// Parcels of remote frees unpacked.
    pub parcels_received: u64,
}

impl SlowCounters {
    /// All zero.
    pub const fn new() -> SlowCounters {
        SlowCounters {
            refills: 0,
            flushes: 0,
            slabs: 0,
            slabs_released: 0,
            parcels_sent: 0,
            parcels_received: 0,
        }
    }
}

#[cfg(feature = "stats")]
mod fast {
    use super::*;

    /// Allocations and frees on the fast path, by class.
    #[repr(C)]
    #[derive(Debug)]
    pub struct FastCounters {
        pub(super) allocations: [u64; CLASSES],
        pub(super) frees: [u64; CLASSES],
    }

    impl FastCounters {
        /// All zero.
        pub const fn new() -> FastCounters {
            FastCounters { allocations: [0; CLASSES], frees: [0; CLASSES] }
        }
    }

    impl Default for FastCounters {
        fn default() -> Self {
            Self::new()
        }
    }

    /// Counts an allocation from a front cache.
    ///
    /// # Safety
    /// `bin` is one of the bins of `h`, which is the caller's.
    #[inline(always)]
    pub unsafe fn count_malloc(h: *mut Heap, bin: *const Bin) {
        // SAFETY: the caller's contract; bins lie at the start of the heap.
        unsafe { (*h).counters.allocations[class_of_bin(h, bin)] += 1 };
    }

    /// Counts a free into a front cache.
    ///
    /// # Safety
    /// `bin` is a bin of the calling thread's own heap.
    #[inline(always)]
    pub unsafe fn count_free(bin: *const Bin) {
        let h = crate::thread::slot::get();
        // SAFETY: the caller's contract.
        unsafe { (*h).counters.frees[class_of_bin(h, bin)] += 1 };
    }

    fn class_of_bin(h: *const Heap, bin: *const Bin) -> usize {
        let _ = h;
        MAP.heap_of_bin(bin).map_or(0, |(_, class)| class)
    }

    /// Allocations and frees of a class in a heap so far.
    pub(super) unsafe fn counted(h: *const Heap, class: usize) -> (u64, u64) {
        // SAFETY: heaps are never freed; each word is written whole by its owner.
        unsafe {
            let read = |p: *const u64| p.read_volatile();
            (
                read(&raw const (*h).counters.allocations[class]),
                read(&raw const (*h).counters.frees[class]),
            )
        }
    }
}

#[cfg(not(feature = "stats"))]
mod fast {
    use super::*;

    /// Nothing is counted.
    #[derive(Debug, Default)]
    pub struct FastCounters;

    impl FastCounters {
        /// Nothing.
        pub const fn new() -> FastCounters {
            FastCounters
        }
    }

    /// Counts nothing.
    ///
    /// # Safety
    /// None needed; the signature is that of the counting form.
    #[inline(always)]
    pub unsafe fn count_malloc(_: *mut Heap, _: *const Bin) {}

    /// Counts nothing.
    ///
    /// # Safety
    /// None needed; the signature is that of the counting form.
    #[inline(always)]
    pub unsafe fn count_free(_: *const Bin) {}

    pub(super) unsafe fn counted(_: *const Heap, _: usize) -> (u64, u64) {
        (0, 0)
    }
}

pub use fast::{FastCounters, count_free, count_malloc};

/// The state of one size class, summed over all heaps.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassStats {
    /// Block size in bytes.
    pub size: usize,
    /// Bytes of slabs.
    pub slab_bytes: usize,
    /// Blocks that the program holds (those in front caches not counted).
    pub in_use: usize,
    /// Blocks in front caches.
    pub cached: usize,
    /// Allocations so far; counted with the feature `stats` only.
    pub allocations: u64,
    /// Frees so far; counted with the feature `stats` only.
    pub frees: u64,
}

/// The state of the heap at one moment. Taken while other threads go on, so sums may be off by what
/// they do meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Stats {
    /// Heaps of living threads.
    pub thread_heaps: usize,
    /// Heaps left by ended threads, waiting for the next.
    pub orphan_heaps: usize,
    /// First-class heaps.
    pub shared_heaps: usize,
    /// Bytes in blocks of slabs that the program holds.
    pub small_bytes: usize,
    /// Bytes in front caches.
    pub cached_bytes: usize,
    /// Bytes free in slabs.
    pub slab_free_bytes: usize,
    /// Address space of large blocks.
    pub large_bytes: usize,
    /// Bytes in regions' spans.
    pub region_bytes: usize,
    /// Bytes in frames' spans.
    pub frame_bytes: usize,
    /// Bytes of the heaps themselves and of parcels (address space; a part is resident).
    pub internal_bytes: usize,
    /// Bytes free, and resident, waiting for reuse or for the decay.
    pub dirty_bytes: usize,
    /// Bytes in spans of all kinds.
    pub span_bytes: usize,
    /// Most bytes ever in spans at once.
    pub peak_span_bytes: usize,
    /// Bytes of span map and span records opened so far (a part is resident).
    pub metadata_bytes: usize,
    /// Bytes given back to the system so far.
    pub purged_bytes: u64,
    /// System calls that gave memory back.
    pub purges: u64,
    /// Slow-path counters of all heaps.
    pub slow: SlowCounters,
    /// By size class.
    pub classes: [ClassStats; CLASSES],
}

/// Takes the state of the heap. Thread-safe; holds each heap's lock for a moment. Cost grows with
/// the number of slabs.
///
/// ```
/// let p = allod_heap::malloc(1000);
/// let s = allod_heap::stats::snapshot();
/// assert!(s.small_bytes >= 1000);
/// // SAFETY: allocated above.
/// unsafe { allod_heap::free(p) };
/// ```
pub fn snapshot() -> Stats {
    let bytes = |kind: Kind| SOURCE.kind_units[kind as usize].load(Relaxed) << UNIT_SHIFT;
    let mut s = Stats {
        thread_heaps: 0,
        orphan_heaps: 0,
        shared_heaps: 0,
        small_bytes: 0,
        cached_bytes: 0,
        slab_free_bytes: 0,
        large_bytes: bytes(Kind::Large),
        region_bytes: bytes(Kind::Region),
        frame_bytes: bytes(Kind::Frame),
        internal_bytes: bytes(Kind::Internal),
        dirty_bytes: SOURCE.dirty_units.load(Relaxed) << UNIT_SHIFT,
        span_bytes: SOURCE.used_units.load(Relaxed) << UNIT_SHIFT,
        peak_span_bytes: SOURCE.peak_units.load(Relaxed) << UNIT_SHIFT,
        metadata_bytes: MAP.limit() * (8 + size_of::<Span>()),
        purged_bytes: SOURCE.purged_bytes.load(Relaxed),
        purges: SOURCE.purges.load(Relaxed),
        slow: SlowCounters::new(),
        classes: [ClassStats::default(); CLASSES],
    };
    for (class, c) in s.classes.iter_mut().enumerate() {
        c.size = size_of_class(class);
    }
    // SAFETY: heaps are never freed.
    each_heap(|h| unsafe { s.add_heap(h) });
    for c in &s.classes {
        s.small_bytes += c.in_use * c.size;
        s.cached_bytes += c.cached * c.size;
    }
    s
}

impl Stats {
    unsafe fn add_heap(&mut self, h: *mut Heap) {
        // SAFETY: the lock keeps slabs and slow counters still. The owner may push and pop
        // meanwhile; each `top` is one word, written whole.
        unsafe {
            match (*h).standing() {
                Standing::Attached => self.thread_heaps += 1,
                Standing::Orphan => self.orphan_heaps += 1,
                Standing::Shared => self.shared_heaps += 1,
                Standing::Retired => return,
            }
            (*h).lock.lock();
            for (class, c) in self.classes.iter_mut().enumerate() {
                let bin = Heap::bin(h, class);
                let top = AtomicPtr::from_ptr(&raw mut (*bin).top).load(Relaxed);
                let cached = top.offset_from((*Bin::holder(bin)).base) as usize - 1;
                c.cached += cached;
                c.in_use = c.in_use.wrapping_sub(cached);
                let (allocations, frees) = fast::counted(h, class);
                c.allocations += allocations;
                c.frees += frees;
            }
            let mut unit = (*h).all as usize;
            while unit != 0 {
                let span = MAP.span(unit);
                if (*span).kind() == Kind::Slab {
                    let c = &mut self.classes[(*span).class as usize];
                    c.slab_bytes += ((*span).units as usize) << UNIT_SHIFT;
                    c.in_use = c.in_use.wrapping_add(((*span).blocks - (*span).free) as usize);
                    self.slab_free_bytes += (*span).free as usize * c.size;
                }
                unit = (*span).all_next as usize;
            }
            let (sum, own) = (&mut self.slow, (*h).slow);
            sum.refills += own.refills;
            sum.flushes += own.flushes;
            sum.slabs += own.slabs;
            sum.slabs_released += own.slabs_released;
            sum.parcels_sent += own.parcels_sent;
            sum.parcels_received += own.parcels_received;
            (*h).lock.unlock();
        }
    }
}

/// Writes a report for people. Does not allocate.
pub fn print(out: &mut dyn Write) -> fmt::Result {
    let s = snapshot();
    let kib = |bytes: usize| bytes / 1024;
    writeln!(out, "allod {} heap, process {}", crate::VERSION, io::pid())?;
    writeln!(
        out,
        "  heaps            {} of threads, {} orphaned, {} first-class",
        s.thread_heaps, s.orphan_heaps, s.shared_heaps
    )?;
    for (name, bytes) in [
        ("small blocks", s.small_bytes),
        ("front caches", s.cached_bytes),
        ("free in slabs", s.slab_free_bytes),
        ("large blocks", s.large_bytes),
        ("regions", s.region_bytes),
        ("frames", s.frame_bytes),
        ("dirty, free", s.dirty_bytes),
        ("spans now", s.span_bytes),
        ("spans at peak", s.peak_span_bytes),
        ("metadata", s.metadata_bytes),
    ] {
        writeln!(out, "  {name:<15} {:>12} KiB", kib(bytes))?;
    }
    writeln!(out, "  given back      {:>12} KiB in {} calls", s.purged_bytes / 1024, s.purges)?;
    writeln!(
        out,
        "  slow path        {} refills, {} flushes, {} slabs taken, {} released, {} parcels sent, {} received",
        s.slow.refills,
        s.slow.flushes,
        s.slow.slabs,
        s.slow.slabs_released,
        s.slow.parcels_sent,
        s.slow.parcels_received
    )?;
    writeln!(
        out,
        "  band     size     slabs KiB       in use       cached  allocations        frees"
    )?;
    for (class, c) in s.classes.iter().enumerate().filter(|(_, c)| c.slab_bytes > 0) {
        match band_of_class(class) {
            8 => write!(out, "  --  ")?,
            band => write!(out, "  B{band}  ")?,
        }
        write!(out, "{:>8} {:>13} {:>12} {:>12}", c.size, kib(c.slab_bytes), c.in_use, c.cached)?;
        if cfg!(feature = "stats") {
            writeln!(out, " {:>12} {:>12}", c.allocations, c.frees)?;
        } else {
            writeln!(out, " {:>12} {:>12}", "-", "-")?;
        }
    }
    Ok(())
}

static REPORT_TO: AtomicI32 = AtomicI32::new(2);

/// Keeps a way to standard error for the report at exit, since many programs close theirs first.
pub(crate) fn prepare_report() {
    if settings::STATS.on() {
        REPORT_TO.store(io::keep_stderr(), Relaxed);
    }
}

/// Prints the report at exit when `ALLOD_STATS=1`.
extern "C" fn at_exit() {
    if settings::STATS.on() {
        let _ = print(&mut io::Fd::new(REPORT_TO.load(Relaxed)));
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;
