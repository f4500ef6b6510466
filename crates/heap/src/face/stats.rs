//! The state of the heap at one moment.

use crate::base::class::{CLASSES, Class};
use crate::base::layout::UNIT_SHIFT;
use crate::heap::counters::SlowCounters;
use crate::heap::counting::counted;
use crate::heap::drawn::Drawn;
use crate::heap::heap::{Heap, Standing, each_heap};
use crate::mail::parcel::POOL;
use crate::map::bin::Bin;
use crate::map::far::FAR;
use crate::map::record::{Kind, Span};
use crate::map::span_map::MAP;
use crate::purge::turn::TURNS;
use crate::source::SOURCE;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// The state of one size class: in one heap, or summed over all.
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
    /// Blocks free in slabs.
    pub free: usize,
    /// Allocations so far; counted with the feature `stats` only.
    pub allocations: u64,
    /// Frees so far; counted with the feature `stats` only.
    pub frees: u64,
}

/// The state of one thread's heap, or of one first-class heap.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeapStats {
    /// A number that no other heap has.
    pub id: u32,
    /// The number of the thread that it belongs to or belonged to; 0 for a first-class heap.
    pub thread: u32,
    /// True when its thread has ended.
    pub orphan: bool,
    /// Bytes in blocks of its slabs that the program holds.
    pub used_bytes: usize,
    /// Bytes in its front caches.
    pub cached_bytes: usize,
    /// Bytes free in its slabs.
    pub free_bytes: usize,
    /// Bytes that it keeps near.
    pub near_bytes: usize,
    /// Its slow-path counters.
    pub slow: SlowCounters,
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
    snapshot_of_each(|_, _| {})
}

/// Takes the state of the heap, and passes on that of each single heap and of its size classes on the way, without a
/// lock held.
pub fn snapshot_of_each(mut show: impl FnMut(&HeapStats, &[ClassStats; CLASSES])) -> Stats {
    let mut none = [ClassStats::default(); CLASSES];
    for (class, c) in Class::all().zip(&mut none) {
        c.size = class.size();
    }
    let mut s = Stats { classes: none, ..Stats::of_source() };
    each_heap(|h| {
        let mut classes = none;
        // SAFETY: heaps are never freed.
        if let Some(heap) = unsafe { s.add_heap(h, &mut classes) } {
            s.classes.iter_mut().zip(&classes).for_each(|(sum, class)| sum.add(class));
            show(&heap, &classes);
        }
    });
    for c in &s.classes {
        // Sums over heaps that change meanwhile may not match for a moment.
        s.small_bytes += c.in_use.cast_signed().max(0) as usize * c.size;
        s.cached_bytes += c.cached * c.size;
    }
    s
}

impl ClassStats {
    fn add(&mut self, other: &ClassStats) {
        self.slab_bytes += other.slab_bytes;
        self.in_use = self.in_use.wrapping_add(other.in_use);
        self.cached += other.cached;
        self.free += other.free;
        self.allocations += other.allocations;
        self.frees += other.frees;
    }
}

impl Stats {
    /// The counters of the whole process.
    fn of_source() -> Stats {
        let from_source = &SOURCE.stats;
        let bytes = |kind: Kind| from_source.kind_units[kind as usize].load(Relaxed) << UNIT_SHIFT;
        Stats {
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
        }
    }

    /// Adds what one heap holds, except for its classes, which are filled in; `None` for a heap that is not in use.
    unsafe fn add_heap(
        &mut self,
        h: *mut Heap,
        classes: &mut [ClassStats; CLASSES],
    ) -> Option<HeapStats> {
        // SAFETY: the lock keeps slabs and slow counters still. The owner may push and pop
        // meanwhile; each `top` is one word, written whole.
        unsafe {
            let standing = (*h).standing();
            match standing {
                Standing::Attached => self.thread_heaps += 1,
                Standing::Orphan => self.orphan_heaps += 1,
                Standing::Shared => self.shared_heaps += 1,
                Standing::Born | Standing::Retired | Standing::Lost => return None,
            }
            let mut locked = Heap::enter(h)?;
            let mut own = HeapStats {
                id: (*h).id(),
                thread: if standing == Standing::Shared { 0 } else { (*h).thread_number() },
                orphan: standing == Standing::Orphan,
                ..HeapStats::default()
            };
            for (class, c) in Class::all().zip(classes) {
                let bin = Heap::bin(h, class);
                let top = AtomicPtr::from_ptr(&raw mut (*bin).top).load(Relaxed);
                let cached = top.offset_from((*Bin::holder(bin)).base) as usize - 1;
                let cached = cached + Drawn::len(Heap::drawn(h), class);
                let sum = locked.inside().slabs.sum(class);
                let in_use = (sum.blocks - sum.free).wrapping_sub(cached);
                c.cached = cached;
                c.free = sum.free;
                c.slab_bytes = sum.units << UNIT_SHIFT;
                c.in_use = in_use;
                own.cached_bytes += cached * c.size;
                own.free_bytes += sum.free * c.size;
                own.used_bytes += in_use.cast_signed().max(0) as usize * c.size;
                (c.allocations, c.frees) = counted(h, class);
            }
            let inside = locked.inside();
            let near = &inside.slabs.near;
            let change = near.changed[Kind::Large as usize] << UNIT_SHIFT;
            self.large_bytes = self.large_bytes.wrapping_add_signed(change);
            own.near_bytes = near.bytes();
            own.slow = SlowCounters {
                slabs: inside.slabs.made,
                slabs_released: inside.slabs.gone,
                parcels_sent: Heap::parcels_sent(h),
                ..inside.slow
            };
            self.slab_free_bytes += own.free_bytes;
            self.near_bytes += own.near_bytes;
            self.slow.add(&own.slow);
            Some(own)
        }
    }
}
