//! A heap: one thread's (or one first-class heap's) front caches, slabs and mail.
//!
//! ```text
//!  Heap (a span of its own, never returned, reused by later threads)
//!  ┌────────────┬───────┬──────────────────────┬───────────────┬──────────────────────┐
//!  │ bins       │ table │ class states, mail … │ small stacks  │ large stacks         │
//!  └────────────┴───────┴──────────────────────┴───────────────┴──────────────────────┘
//!    fast path: these two only                   every front cache starts in a small stack and
//!                                                moves to a large one when its use calls for it
//! ```
//! The fast path touches `bins` and `table` only, without a lock: a thread's bins are its own.
//! Everything from `lock` on is touched with the lock held, by the owner when a front cache runs
//! empty or full, and by whoever purges or settles mail for an owner that sleeps.

use crate::class::{CLASSES, ClassInfo, INFO, SMALL_ENTRIES, class_of};
use crate::inbox::Inbox;
use crate::knobs;
use crate::layout::{UNIT_SHIFT, units_for};
use crate::map::{Bin, BinGroup, Cache, GROUP, MAP};
use crate::record::Kind;
use crate::remote::{Outgoing, Parcel};
use crate::source::SOURCE;
use crate::stats::{self, SlowCounters};
use allod_os::lock::Lock;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering::Relaxed};

/// Destinations for which a thread collects remote frees at once.
pub const OUTGOING: usize = 8;
/// Bytes by which all front caches of a thread together may outgrow their first size.
const GROWTH_BUDGET: usize = 8 << 20;

/// Who may use a heap, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Standing {
    /// A living thread's.
    Attached = 0,
    /// Its thread has ended; the next new thread takes it over.
    Orphan = 1,
    /// A first-class heap: everybody, with the lock held.
    Shared = 2,
    /// A destroyed first-class heap, waiting to be used again.
    Retired = 3,
}

/// What a heap knows of one size class.
#[repr(C)]
pub struct ClassState {
    /// Unit of the slab that is being handed out; 0 when there is none.
    pub current: u32,
    /// First of the other slabs with free blocks.
    pub partial: u32,
    /// Blocks taken from the slab at the next refill.
    pub batch: u16,
    /// Flushes since the last refill.
    pub flushes: u16,
    /// Blocks flushed since the last refill.
    pub flushed: u32,
    /// Colour of the next slab.
    pub colour: u16,
    /// True when the stack is the large one.
    pub grown: bool,
}

/// See the module's drawing.
#[repr(C, align(64))]
pub struct Heap {
    /// Front caches by class, and who holds them.
    pub bins: [BinGroup; CLASSES.div_ceil(GROUP)],
    /// Byte offset of the bin for each request up to `SMALL_LIMIT`, by 16 bytes.
    pub table: [u16; SMALL_ENTRIES],
    /// Counters of the fast path; empty unless the feature `stats` is on.
    pub counters: stats::FastCounters,

    /// Guards what follows, and `bins` too while `thread` is 0.
    pub lock: Lock,
    /// The standing, as a number.
    standing: AtomicU32,
    /// Small distinct number of this heap.
    pub id: u32,
    /// First unit of the list of all spans.
    pub all: u32,
    /// Class states.
    pub classes: [ClassState; CLASSES],
    /// Bytes of growth left to the front caches.
    pub budget: usize,
    /// Since when the heap has been an orphan with its front caches full; 0 when it is not.
    pub left_at: u32,
    /// Parcels of blocks that other threads freed.
    pub inbox: Inbox,
    /// Parcels taken out of the inbox and not yet unpacked.
    pub pending: *mut Parcel,
    /// Blocks of other heaps that this thread freed, not yet sent. Owner only, without the lock.
    pub outgoing: [Outgoing; OUTGOING],
    /// Empty parcels. Owner only, without the lock.
    pub spare: *mut Parcel,
    /// Number of empty parcels.
    pub spares: usize,
    /// Counters of the slow path.
    pub slow: SlowCounters,
    /// Next in the list of all heaps ever made; never changes once set.
    pub next: AtomicPtr<Heap>,
    /// Next in the list of orphans or of retired heaps.
    pub next_idle: *mut Heap,
}

/// Offsets of the stacks behind the `Heap`, in words, and the total.
struct Stacks {
    small: [usize; CLASSES],
    large: [usize; CLASSES],
    words: usize,
}

const STACKS: Stacks = {
    let mut s = Stacks { small: [0; CLASSES], large: [0; CLASSES], words: 0 };
    let mut i = 0;
    while i < CLASSES {
        s.small[i] = s.words;
        s.words += INFO_OF[i].first_cap as usize + 1;
        i += 1;
    }
    s.words = s.words.next_multiple_of(512);
    let mut i = 0;
    while i < CLASSES {
        s.large[i] = s.words;
        s.words += INFO_OF[i].max_cap as usize + 1;
        i += 1;
    }
    s
};
const INFO_OF: [ClassInfo; CLASSES] = crate::class::INFO_CONST;

/// All heaps ever made, linked by `next`. They are reused, never freed.
pub static HEAPS: AtomicPtr<Heap> = AtomicPtr::new(ptr::null_mut());
static IDS: AtomicUsize = AtomicUsize::new(1);

impl Heap {
    /// A heap with no memory, whose every fast path leads to the slow path at once. It is what a
    /// thread's slot holds before its first allocation and after its last.
    pub const fn nothing(bottom: *const SharedWord) -> Heap {
        const NO_CLASS: ClassState = ClassState {
            current: 0,
            partial: 0,
            batch: 0,
            flushes: 0,
            flushed: 0,
            colour: 0,
            grown: false,
        };
        let mut bins = [const { BinGroup::new() }; CLASSES.div_ceil(GROUP)];
        // The table sends every request to the first bin, so only that one needs a bottom.
        bins[0].bins[0].top = bottom.cast_mut().cast::<*mut u8>().wrapping_add(1);
        Heap {
            bins,
            table: [0; SMALL_ENTRIES],
            counters: stats::FastCounters::new(),
            lock: Lock::new(),
            standing: AtomicU32::new(Standing::Retired as u32),
            id: 0,
            all: 0,
            classes: [NO_CLASS; CLASSES],
            budget: 0,
            left_at: 0,
            inbox: Inbox::new(),
            pending: ptr::null_mut(),
            outgoing: [const { Outgoing::new() }; OUTGOING],
            spare: ptr::null_mut(),
            spares: 0,
            slow: SlowCounters::new(),
            next: AtomicPtr::new(ptr::null_mut()),
            next_idle: ptr::null_mut(),
        }
    }

    /// Makes a heap in a span of its own. Null when memory is out.
    pub fn create() -> *mut Heap {
        let bytes = size_of::<Heap>() + STACKS.words * 8;
        let units = units_for(bytes);
        let Some(run) = SOURCE.take(units, 1, Kind::Internal) else { return ptr::null_mut() };
        let span = MAP.span(run.unit);
        let heap = MAP.address_of(run.unit) as *mut Heap;
        // SAFETY: the run is ours; a heap of zeros is valid, and the stacks' bottoms are zeros.
        unsafe {
            (*span).start = heap as usize;
            (*span).bytes = bytes;
            MAP.enter(run.unit, units, &raw mut (*span).bin);
            if !run.clean {
                ptr::write_bytes(heap.cast::<u8>(), 0, units << UNIT_SHIFT);
            }
            Heap::fill_in(heap);
            (*heap).id = IDS.fetch_add(1, Relaxed) as u32;
            let mut head = HEAPS.load(Relaxed);
            loop {
                (*heap).next.store(head, Relaxed);
                use core::sync::atomic::Ordering::{Acquire, Release};
                match HEAPS.compare_exchange_weak(head, heap, Release, Acquire) {
                    Ok(_) => break,
                    Err(now) => head = now,
                }
            }
        }
        heap
    }

    /// Writes what is not zero in a new heap.
    ///
    /// # Safety
    /// `h` is new and zeroed.
    unsafe fn fill_in(h: *mut Heap) {
        // SAFETY: the caller's contract; all places lie in the heap's span.
        unsafe {
            let stacks = h.cast::<u8>().add(size_of::<Heap>()).cast::<*mut u8>();
            for (class, info) in INFO.iter().enumerate() {
                let cap = if knobs::cached(class) { info.first_cap as usize } else { 0 };
                let cache = Heap::cache(h, class);
                (*Bin::holder(cache.bin())).base = stacks.add(STACKS.small[class]);
                cache.set_len(0);
                cache.set_cap(cap);
                (*h).classes[class].batch = (cap / 4).max(1) as u16;
                (*h).classes[class].colour = (class * 5) as u16;
            }
            for (i, entry) in (*h).table.iter_mut().enumerate() {
                *entry = Heap::bin_offset(class_of(i * 16)) as u16;
            }
            (*h).budget = GROWTH_BUDGET;
        }
    }

    /// Bytes from a heap to its bin for a class.
    #[inline(always)]
    pub const fn bin_offset(class: usize) -> usize {
        class / GROUP * size_of::<BinGroup>() + class % GROUP * size_of::<Bin>()
    }

    /// The bin for a class.
    #[inline(always)]
    pub fn bin(h: *mut Heap, class: usize) -> *mut Bin {
        debug_assert!(class < CLASSES);
        h.wrapping_byte_add(Heap::bin_offset(class)).cast()
    }

    /// The front cache for a class.
    ///
    /// # Safety
    /// The heap's bins are the caller's to change as long as the value is used.
    #[inline(always)]
    pub unsafe fn cache(h: *mut Heap, class: usize) -> Cache {
        // SAFETY: the caller's contract.
        unsafe { Cache::new(Heap::bin(h, class)) }
    }

    /// Who may use the heap.
    #[inline]
    pub fn standing(&self) -> Standing {
        match self.standing.load(Relaxed) {
            0 => Standing::Attached,
            1 => Standing::Orphan,
            2 => Standing::Shared,
            _ => Standing::Retired,
        }
    }

    /// Changes who may use the heap. With the lock held.
    pub fn set_standing(&self, s: Standing) {
        self.standing.store(s as u32, Relaxed);
    }

    /// Makes the front caches `thread`'s own, or nobody's with 0.
    pub fn set_thread(&self, thread: usize) {
        for holder in self.bins.iter().flat_map(|group| &group.holders) {
            holder.thread.store(thread, Relaxed);
        }
    }

    /// Lets the front cache of a class hold more, when the budget allows: its use has shown that it
    /// runs full and empty in turn. It grows to hold what was flushed since it last ran empty, where
    /// that is possible at all; otherwise it doubles.
    ///
    /// # Safety
    /// `h` is locked and its bins are the caller's to change.
    pub unsafe fn grow_cache(h: *mut Heap, class: usize) {
        // SAFETY: the caller's contract; the large stack of a class has `max_cap + 1` words.
        unsafe {
            let info = &INFO[class];
            let cache = Heap::cache(h, class);
            let cap = cache.cap();
            let max = info.max_cap as usize;
            let all = cap + (*h).classes[class].flushed as usize;
            let to = if all <= max { all.max(cap * 2) } else { cap * 2 }.min(max);
            let cost = (to - cap.min(to)) * info.size as usize;
            if to <= cap || cap == 0 || cost > (*h).budget {
                return;
            }
            (*h).budget -= cost;
            if (*h).classes[class].grown {
                return cache.set_cap(to);
            }
            (*h).classes[class].grown = true;
            let stacks = h.cast::<u8>().add(size_of::<Heap>()).cast::<*mut u8>();
            cache.move_to(stacks.add(STACKS.large[class]), to);
        }
    }

    /// Takes half of a front cache's room away, if what it holds leaves room in the rest: a push
    /// follows. It does not fall below a quarter of its first room.
    ///
    /// # Safety
    /// As for [`Heap::grow_cache`].
    pub unsafe fn shrink_cache(h: *mut Heap, class: usize) {
        // SAFETY: the caller's contract.
        unsafe {
            let cache = Heap::cache(h, class);
            let cap = cache.cap();
            let to = (cap / 2).max(INFO[class].first_cap as usize / 4).max(1);
            if to < cap && cache.len() < to {
                (*h).budget += (cap - to) * INFO[class].size as usize;
                cache.set_cap(to);
            }
        }
    }

    /// Links a span into the list of all spans of the heap.
    ///
    /// # Safety
    /// `h` is locked, the span is its own and in no list.
    pub unsafe fn link_all(h: *mut Heap, unit: usize) {
        // SAFETY: the caller's contract; linked spans have valid records.
        unsafe {
            let span = MAP.span(unit);
            (*span).all_prev = 0;
            (*span).all_next = (*h).all;
            if (*h).all != 0 {
                (*MAP.span((*h).all as usize)).all_prev = unit as u32;
            }
            (*h).all = unit as u32;
        }
    }

    /// Takes a span out of the list of all spans of the heap.
    ///
    /// # Safety
    /// `h` is locked and the span is in its list.
    pub unsafe fn unlink_all(h: *mut Heap, unit: usize) {
        // SAFETY: the caller's contract; linked spans have valid records.
        unsafe {
            let (prev, next) = ((*MAP.span(unit)).all_prev, (*MAP.span(unit)).all_next);
            match prev {
                0 => (*h).all = next,
                p => (*MAP.span(p as usize)).all_next = next,
            }
            if next != 0 {
                (*MAP.span(next as usize)).all_prev = prev;
            }
        }
    }
}

/// A word that many threads read and nobody writes: the bottom of the stack of nobody's heap.
#[repr(transparent)]
pub struct SharedWord(pub usize);

/// Calls `f` for every heap ever made.
pub fn each_heap(mut f: impl FnMut(*mut Heap)) {
    let mut h = HEAPS.load(core::sync::atomic::Ordering::Acquire);
    while !h.is_null() {
        f(h);
        // SAFETY: heaps are never freed and `next` never changes once published.
        h = unsafe { (*h).next.load(Relaxed) };
    }
}
