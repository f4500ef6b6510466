//! The state of the heap at one moment, and the report made of it.

use crate::base::class::{CLASSES, Class};
use crate::base::layout::UNIT_SHIFT;
use crate::base::settings;
use crate::heap::counters::{SlowCounters, counted};
use crate::heap::heap::{Heap, Standing, each_heap};
use crate::mail::parcel::POOL;
use crate::map::bin::Bin;
use crate::map::far::FAR;
use crate::map::record::{Kind, Span};
use crate::map::span_map::MAP;
use crate::purge::turn::TURNS;
use crate::source::SOURCE;
use allod_os::io;
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicI32, AtomicPtr, Ordering::Relaxed};

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
    /// Huge pages made so far; see `ALLOD_HUGEPAGES`.
    pub huge_pages: u64,
    /// Bytes that heaps keep near, resident or not.
    pub near_bytes: usize,
    /// Times the span source's lock was taken.
    pub source_locks: u64,
    /// Times the lock of the pool of parcels was taken.
    pub pool_locks: u64,
    /// Times a thread went to sleep on any lock of Allod's.
    pub lock_waits: u64,
    /// Turns of giving memory back.
    pub turns: u64,
    /// Heaps looked at in these turns.
    pub heaps_looked_at: u64,
    /// Slow-path counters of all heaps.
    pub slow: SlowCounters,
    /// By size class.
    pub classes: [ClassStats; CLASSES],
}

/// Takes the state of the heap. Thread-safe; holds each heap's lock for a moment. Cost grows with
/// the number of heaps.
///
/// ```
/// let p = allod_heap::malloc(1000);
/// let s = allod_heap::stats::snapshot();
/// assert!(s.small_bytes >= 1000);
/// // SAFETY: allocated above.
/// unsafe { allod_heap::free(p) };
/// ```
pub fn snapshot() -> Stats {
    let from_source = &SOURCE.stats;
    let bytes = |kind: Kind| from_source.kind_units[kind as usize].load(Relaxed) << UNIT_SHIFT;
    let mut s = Stats {
        thread_heaps: 0,
        orphan_heaps: 0,
        shared_heaps: 0,
        small_bytes: 0,
        cached_bytes: 0,
        slab_free_bytes: 0,
        large_bytes: bytes(Kind::Large) + FAR.bytes.load(Relaxed),
        region_bytes: bytes(Kind::Region),
        frame_bytes: bytes(Kind::Frame),
        internal_bytes: bytes(Kind::Internal),
        dirty_bytes: from_source.dirty_units.load(Relaxed) << UNIT_SHIFT,
        span_bytes: SOURCE.used_bytes(),
        peak_span_bytes: from_source.peak_units.load(Relaxed) << UNIT_SHIFT,
        metadata_bytes: MAP.limit() * (8 + size_of::<Span>()),
        purged_bytes: from_source.purged_bytes.load(Relaxed),
        purges: from_source.purges.load(Relaxed),
        huge_pages: from_source.huge_pages.load(Relaxed),
        near_bytes: 0,
        source_locks: from_source.locked.load(Relaxed),
        pool_locks: POOL.locked.load(Relaxed),
        lock_waits: allod_os::lock_waits(),
        turns: TURNS.taken.load(Relaxed),
        heaps_looked_at: TURNS.heaps.load(Relaxed),
        slow: SlowCounters::new(),
        classes: [ClassStats::default(); CLASSES],
    };
    for (class, c) in Class::all().zip(&mut s.classes) {
        c.size = class.size();
    }
    // SAFETY: heaps are never freed.
    each_heap(|h| unsafe { s.add_heap(h) });
    for c in &s.classes {
        // Sums over moving heaps may fall short of each other for a moment.
        s.small_bytes += c.in_use.cast_signed().max(0) as usize * c.size;
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
                Standing::Born | Standing::Retired | Standing::Lost => return,
            }
            let Some(mut locked) = Heap::enter(h) else { return };
            for (class, c) in Class::all().zip(&mut self.classes) {
                let bin = Heap::bin(h, class);
                let top = AtomicPtr::from_ptr(&raw mut (*bin).top).load(Relaxed);
                let cached = top.offset_from((*Bin::holder(bin)).base) as usize - 1;
                let sum = locked.inside().slabs.sum(class);
                c.cached += cached;
                c.slab_bytes += sum.units << UNIT_SHIFT;
                c.in_use = c.in_use.wrapping_add(sum.blocks - sum.free).wrapping_sub(cached);
                self.slab_free_bytes += sum.free * c.size;
                let (allocations, frees) = counted(h, class);
                c.allocations += allocations;
                c.frees += frees;
            }
            let inside = locked.inside();
            let near = &inside.slabs.near;
            let change = near.changed[Kind::Large as usize] << UNIT_SHIFT;
            self.large_bytes = self.large_bytes.wrapping_add_signed(change);
            self.near_bytes += near.bytes();
            let (sum, own) = (&mut self.slow, inside.slow);
            sum.refills += own.refills;
            sum.flushes += own.flushes;
            sum.slabs += inside.slabs.made;
            sum.slabs_released += inside.slabs.gone;
            sum.parcels_sent += Heap::parcels_sent(h);
            sum.parcels_received += own.parcels_received;
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
        ("kept near", s.near_bytes),
        ("dirty, free", s.dirty_bytes),
        ("spans now", s.span_bytes),
        ("spans at peak", s.peak_span_bytes),
        ("metadata", s.metadata_bytes),
    ] {
        writeln!(out, "  {name:<15} {:>12} KiB", kib(bytes))?;
    }
    writeln!(out, "  given back      {:>12} KiB in {} calls", s.purged_bytes / 1024, s.purges)?;
    writeln!(out, "  huge pages      {:>12} made so far", s.huge_pages)?;
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
        "  shared locks     span source {} times, pool of parcels {}, {} waits",
        s.source_locks, s.pool_locks, s.lock_waits
    )?;
    writeln!(out, "  giving back      {} turns, {} heaps looked at", s.turns, s.heaps_looked_at)?;
    writeln!(
        out,
        "  band     size     slabs KiB       in use       cached  allocations        frees"
    )?;
    for (class, c) in Class::all().zip(&s.classes).filter(|(_, c)| c.slab_bytes > 0) {
        match class.band() {
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

/// Prints the report when `ALLOD_STATS=1`.
pub(crate) fn report() {
    if settings::STATS.on() {
        let _ = print(&mut io::Fd::new(REPORT_TO.load(Relaxed)));
    }
}
