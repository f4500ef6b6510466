//! The heap itself, and the list of all heaps.

use crate::base::class::{CLASSES, Class, ClassInfo, INFO_CONST, SMALL_ENTRIES};
use crate::base::knobs;
use crate::base::layout::UNIT_SHIFT;
use crate::base::layout::units_for;
use crate::heap::caches::GROWTH_BUDGET;
use crate::heap::counters::FastCounters;
use crate::heap::drawn::{self, Drawn};
use crate::heap::inside::Inside;
use crate::heap::quarantine::Quarantine;
use crate::heap::stirred::{Mark, Marked, Stirred};
use crate::mail::inbox::Inbox;
use crate::mail::lease::Lease;
use crate::mail::outgoing::Outgoing;
use crate::mail::spares::Spares;
use crate::map::bin::{Bin, BinGroup, Bins, bin_offset};
use crate::map::cache::Cache;
use crate::slab::Borrowed;
use crate::source;
use allod_os::lock::Lock;
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{
    AtomicPtr, AtomicU16, AtomicU32, AtomicUsize, Ordering::Acquire, Ordering::Relaxed,
    Ordering::Release,
};

/// Who may use a heap, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Standing {
    /// About to become a thread's, new or adopted.
    Born = 0,
    /// A living thread's.
    Attached = 5,
    /// Its thread has ended; the next new thread takes it over.
    Orphan = 1,
    /// A first-class heap: anybody may use it, with the lock held.
    Shared = 2,
    /// A destroyed first-class heap, waiting to be used again.
    Retired = 3,
    /// The heap of a thread that a fork left behind in the middle of a change: never used again.
    Lost = 4,
}

/// See the module's drawing.
#[repr(C, align(64))]
pub struct Heap {
    /// Front caches by class, and who holds them.
    pub bins: Bins,
    /// Byte offset of the bin for each request up to `SMALL_LIMIT`, by 16 bytes.
    pub table: [AtomicU16; SMALL_ENTRIES],
    /// Small distinct number of this heap, 0 for a static one. On a line that nobody writes.
    pub id: u32,
    /// Counters of the fast path; empty unless the feature `stats` is on.
    pub counters: FastCounters,
    /// Apart from the line that other threads read.
    pub(super) guarded: Guarded,
    /// Where the table leads while samples are taken.
    pub drawn: Drawn,
}

/// Everything that the fast path does not touch.
#[repr(C, align(64))]
pub struct Guarded {
    /// Guards `inside`, and the bins too while no thread holds them.
    pub(super) lock: Lock,
    standing: AtomicU32,
    /// The number of the thread that owns the heap, or owned it last.
    thread_number: AtomicU32,
    /// Parcels of blocks that other threads freed.
    pub(super) inbox: Inbox,
    pub(super) inside: UnsafeCell<Inside>,
    /// Whether the purger has to look at the heap.
    mark: Mark<Heap>,
    /// Who may touch `outgoing`.
    lease: Lease,
    /// Blocks of other heaps that this thread freed, not yet sent. Without the lock.
    pub(super) outgoing: UnsafeCell<Outgoing<Heap>>,
    /// Empty parcels for more of them. Owner only, without the lock.
    spares: UnsafeCell<Spares>,
    /// Blocks that this thread freed and that are in quarantine. Owner only, without the lock.
    pub(super) quarantine: UnsafeCell<Quarantine>,
    /// Next in the list of all heaps ever made; never changes once set.
    next: AtomicPtr<Heap>,
    /// Next in the list of orphans or of retired heaps.
    pub next_idle: UnsafeCell<*mut Heap>,
}

/// Bytes from a heap to its drawn blocks, whose bins the table leads to as well.
pub(super) const DRAWN: usize = core::mem::offset_of!(Heap, drawn);
const _: () = assert!(DRAWN + Drawn::BINS <= u16::MAX as usize);

/// Offsets of the stacks behind the `Heap`, in words, and the total.
pub(super) struct Stacks {
    small: [usize; CLASSES],
    large: [usize; CLASSES],
    words: usize,
}

const STACKS: Stacks = {
    const INFO: [ClassInfo; CLASSES] = INFO_CONST;
    let mut s = Stacks { small: [0; CLASSES], large: [0; CLASSES], words: 0 };
    let mut i = 0;
    while i < CLASSES {
        s.small[i] = s.words;
        s.words += INFO[i].first_cap as usize + 1;
        i += 1;
    }
    s.words = s.words.next_multiple_of(512);
    let mut i = 0;
    while i < CLASSES {
        s.large[i] = s.words;
        s.words += INFO[i].max_cap as usize + 1;
        i += 1;
    }
    s
};

/// All heaps ever made, linked by `next`. They are reused, never freed.
static HEAPS: AtomicPtr<Heap> = AtomicPtr::new(ptr::null_mut());
/// Heaps that the purger has to look at.
pub static STIRRED: Stirred<Heap> = Stirred::new();
static IDS: AtomicUsize = AtomicUsize::new(1);

impl Heap {
    /// A heap without memory, whose fast paths all lead straight to the slow path. A thread's slot holds
    /// it before the thread's first allocation and after its last.
    pub const fn nothing(bottom: *const SharedWord) -> Heap {
        let mut bins = [const { BinGroup::new() }; size_of::<Bins>() / size_of::<BinGroup>()];
        // The table sends every request to the first bin, so only that one needs a bottom.
        bins[0].bins[0].top = bottom.cast_mut().cast::<*mut u8>().wrapping_add(1);
        Heap {
            bins,
            table: [const { AtomicU16::new(0) }; SMALL_ENTRIES],
            id: 0,
            counters: FastCounters::new(),
            guarded: Guarded {
                lock: Lock::new(),
                standing: AtomicU32::new(Standing::Retired as u32),
                thread_number: AtomicU32::new(0),
                inbox: Inbox::new(),
                inside: UnsafeCell::new(Inside::new()),
                mark: Mark::new(),
                lease: Lease::new(),
                outgoing: UnsafeCell::new(Outgoing::new()),
                spares: UnsafeCell::new(Spares::new()),
                quarantine: UnsafeCell::new(Quarantine::new()),
                next: AtomicPtr::new(ptr::null_mut()),
                next_idle: UnsafeCell::new(ptr::null_mut()),
            },
            drawn: Drawn::none(),
        }
    }

    /// Makes a heap in a span of its own, with the given standing. Null when memory is out.
    pub fn create(standing: Standing) -> *mut Heap {
        let bytes = size_of::<Heap>() + STACKS.words * 8;
        let Some((start, clean)) = source::internal(bytes) else { return ptr::null_mut() };
        let heap = start as *mut Heap;
        // SAFETY: the span is ours; a heap of zeros is valid, and the stacks' bottoms are zeros.
        unsafe {
            if !clean {
                ptr::write_bytes(heap.cast::<u8>(), 0, units_for(bytes) << UNIT_SHIFT);
            }
            Heap::fill_in(heap);
            (*heap).id = IDS.fetch_add(1, Relaxed) as u32;
            (*heap).set_standing(standing);
            let mut head = HEAPS.load(Relaxed);
            loop {
                (*heap).guarded.next.store(head, Relaxed);
                match HEAPS.compare_exchange_weak(head, heap, Release, Acquire) {
                    Ok(_) => break,
                    Err(now) => head = now,
                }
            }
            STIRRED.join(&*heap);
            drawn::follow(|on| Heap::send_malloc(heap, on));
        }
        heap
    }

    /// Writes the fields of a new heap that are not zero.
    ///
    /// # Safety
    /// `h` is new and zeroed.
    unsafe fn fill_in(h: *mut Heap) {
        // SAFETY: the caller's contract; all places lie in the heap's span.
        unsafe {
            let inside = &mut *(*h).guarded.inside.get();
            for class in Class::all() {
                let info = class.info();
                let cap = if knobs::cached(class) { info.first_cap as usize } else { 0 };
                let cache = Heap::cache(h, class);
                cache.start_at(Heap::small_stack(h, class), cap);
                inside.caches[class.index()].batch = (cap / 4).max(1) as u16;
            }
            inside.budget = GROWTH_BUDGET;
            (&raw mut (*h).guarded.mark).write(Mark::new());
            Drawn::prepare(Heap::drawn(h));
            Heap::send_malloc(h, false);
        }
    }

    /// Blocks drawn from the front caches while samples are taken.
    #[inline(always)]
    pub fn drawn(h: *mut Heap) -> *mut Drawn {
        h.wrapping_byte_add(DRAWN).cast()
    }

    /// Redirects `malloc` to the drawn blocks, or back to the front caches. Any thread may call it: each entry of the
    /// table is one word, and either value leads to one of the heap's stacks.
    ///
    /// # Safety
    /// `h` is a heap.
    pub unsafe fn send_malloc(h: *mut Heap, to_drawn: bool) {
        for i in 0..SMALL_ENTRIES {
            let class = Class::of(i * 16);
            // Blocks of size 0 are never drawn.
            let drawn = to_drawn && Drawn::most(class) > 0;
            let to = if drawn { DRAWN + Drawn::offset(class) } else { bin_offset(class) };
            // SAFETY: heaps are never freed.
            unsafe { (*h).table[i].store(to as u16, Relaxed) };
        }
    }

    fn stack(h: *mut Heap, words: usize) -> *mut *mut u8 {
        h.cast::<u8>().wrapping_add(size_of::<Heap>()).cast::<*mut u8>().wrapping_add(words)
    }

    fn small_stack(h: *mut Heap, class: Class) -> *mut *mut u8 {
        Heap::stack(h, STACKS.small[class.index()])
    }

    /// The large stack of a class, with room for `max_cap` entries above its bottom.
    pub(super) fn large_stack(h: *mut Heap, class: Class) -> *mut *mut u8 {
        Heap::stack(h, STACKS.large[class.index()])
    }

    /// The bin for a class.
    #[inline(always)]
    pub fn bin(h: *mut Heap, class: Class) -> *mut Bin {
        h.wrapping_byte_add(bin_offset(class)).cast()
    }

    /// The front cache for a class.
    ///
    /// # Safety
    /// The heap's bins are the caller's to change as long as the value is used.
    #[inline(always)]
    pub unsafe fn cache(h: *mut Heap, class: Class) -> Cache {
        // SAFETY: the caller's contract.
        unsafe { Cache::new(Heap::bin(h, class)) }
    }

    /// In a forked child whose thread was interrupted with the heap's lock held: sees to it that blocks borrowed by a
    /// thread that no longer exists come back when the heap's pages are looked at next.
    ///
    /// # Safety
    /// `h` is a heap, in such a child.
    pub unsafe fn abandon_borrowed(h: *mut Heap) {
        // SAFETY: the caller's contract; no reference is made to what the interrupted code may use.
        unsafe { Borrowed::abandon(&raw mut (*(*h).guarded.inside.get()).slabs.borrowed) };
    }

    /// What a thread collects for other heaps.
    ///
    /// # Safety
    /// The caller has the heap's lease, and no other reference from here is in use.
    #[inline(always)]
    pub unsafe fn outgoing<'a>(h: *mut Heap) -> &'a mut Outgoing<Heap> {
        // SAFETY: the caller's contract.
        unsafe { &mut *(*h).guarded.outgoing.get() }
    }

    /// True while a heap's thread has collected blocks that are not sent.
    ///
    /// # Safety
    /// `h` is a heap.
    pub unsafe fn has_unsent(h: *mut Heap) -> bool {
        // SAFETY: heaps are never freed; the word is atomic.
        unsafe { (*Outgoing::open((*h).guarded.outgoing.get())).load(Relaxed) > 0 }
    }

    /// Who may touch what a thread collects for other heaps.
    #[inline]
    pub fn lease(&self) -> &Lease {
        &self.guarded.lease
    }

    /// The empty parcels that a thread keeps.
    ///
    /// # Safety
    /// `h` is the calling thread's own, and no other reference from here is in use.
    #[inline(always)]
    pub unsafe fn spares<'a>(h: *mut Heap) -> &'a mut Spares {
        // SAFETY: the caller's contract.
        unsafe { &mut *(*h).guarded.spares.get() }
    }

    /// Parcels that a heap's thread has sent so far.
    ///
    /// # Safety
    /// `h` is a heap.
    pub unsafe fn parcels_sent(h: *mut Heap) -> u64 {
        // SAFETY: heaps are never freed; the word is written whole by its owner.
        unsafe { Outgoing::sent((*h).guarded.outgoing.get()).read_volatile() }
    }

    /// Who may use the heap.
    #[inline]
    pub fn standing(&self) -> Standing {
        match self.guarded.standing.load(Relaxed) {
            0 => Standing::Born,
            5 => Standing::Attached,
            1 => Standing::Orphan,
            2 => Standing::Shared,
            3 => Standing::Retired,
            _ => Standing::Lost,
        }
    }

    /// Changes who may use the heap. Called with the heap's lock held, or the lock of the list that the heap enters or
    /// leaves, or before anybody else knows the heap.
    pub fn set_standing(&self, s: Standing) {
        self.guarded.standing.store(s as u32, Relaxed);
    }

    /// Makes the front caches `thread`'s own, or nobody's with 0.
    pub fn set_thread(&self, thread: usize) {
        for holder in self.bins.iter().flat_map(|group| &group.holders) {
            holder.thread.store(thread, Relaxed);
        }
    }

    /// The thread whose own the front caches are; 0 for nobody's.
    pub fn thread(&self) -> usize {
        self.bins[0].holders[0].thread.load(Relaxed)
    }

    /// The system's number for the thread that owns the heap, or owned it last.
    pub fn thread_number(&self) -> u32 {
        self.guarded.thread_number.load(Relaxed)
    }

    /// Notes that number; called by the thread itself.
    pub fn set_thread_number(&self, number: u32) {
        self.guarded.thread_number.store(number, Relaxed);
    }

    /// The heap's unique number, counted from 1 in order of creation.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The inbox.
    pub fn inbox(&self) -> &Inbox {
        &self.guarded.inbox
    }

    /// The next heap in a list of idle ones, which the list's holder may read and write.
    pub fn next_idle(&self) -> *mut *mut Heap {
        self.guarded.next_idle.get()
    }

    /// The heap's lock, for a fork.
    pub fn lock(&self) -> &Lock {
        &self.guarded.lock
    }
}

impl Marked for Heap {
    #[inline]
    fn mark(&self) -> &Mark<Heap> {
        &self.guarded.mark
    }
}

/// A word that many threads read and nobody writes: the stack bottom of the heap that nobody owns.
#[repr(transparent)]
pub struct SharedWord(pub usize);

/// Calls `f` for every heap ever made.
pub fn each_heap(mut f: impl FnMut(*mut Heap)) {
    let mut h = HEAPS.load(Acquire);
    while !h.is_null() {
        f(h);
        // SAFETY: heaps are never freed and `next` never changes once published.
        h = unsafe { (*h).guarded.next.load(Relaxed) };
    }
}
