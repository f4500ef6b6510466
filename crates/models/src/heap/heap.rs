//! A heap that is only a lock, a standing, an inbox, a slab and a front cache.

use crate::base::class::Class;
use crate::base::layout::Unit;
use crate::base::sync::{UnsafeCell, process_wide};
use crate::futex::Word;
use crate::heap::locked::Inside;
use crate::heap::stirred::{Mark, Marked, Stirred};
use crate::lock::Lock;
use crate::mail::inbox::Inbox;
use crate::mail::lease::Lease;
use crate::mail::parcel::{POOL, Parcel};
use crate::map::cache::Cache;
use crate::slab::borrowed::Borrowed;
use crate::sync::{AtomicPtr, AtomicU32, AtomicUsize};
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::ptr;
use std::sync::Mutex;

/// As in the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A living thread's.
    Attached,
    /// Its thread has ended.
    Orphan,
    /// Left by a fork in the middle of a change.
    Lost,
    /// About to be a thread's.
    Born,
    /// A destroyed first-class heap.
    Retired,
}

/// What the protocols need of a heap.
pub struct Heap {
    pub(crate) lock: Lock,
    standing: AtomicU32,
    inbox: Inbox,
    pub(crate) inside: UnsafeCell<Inside>,
    pub(crate) cache: UnsafeCell<Vec<*mut u8>>,
    next: AtomicPtr<Heap>,
    mark: Mark<Heap>,
    lease: Lease,
    next_idle: UnsafeCell<*mut Heap>,
}

impl Marked for Heap {
    fn mark(&self) -> &Mark<Heap> {
        &self.mark
    }
}

struct Made(*mut Heap);

impl Drop for Made {
    fn drop(&mut self) {
        // SAFETY: made in `publish`; the run is over.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

process_wide! {
    static HEAPS: AtomicPtr<Heap> = AtomicPtr::new(ptr::null_mut());
}
process_wide! {
    /// As in the heap.
    pub static STIRRED: Stirred<Heap> = Stirred::new();
}
process_wide! {
    static MADE: Mutex<Vec<Made>> = Mutex::new(Vec::new());
}
process_wide! {
    /// The next unit without a slab.
    static UNITS: AtomicUsize = AtomicUsize::new(1);
}

/// A thread's empty parcels: it keeps none.
pub struct Spares;

impl Spares {
    /// As in the heap.
    ///
    /// # Safety
    /// As in the heap.
    pub unsafe fn keep(&mut self, parcel: *mut Parcel) {
        // SAFETY: the caller's contract.
        unsafe { POOL.put_few(parcel, parcel, 1) };
    }
}

impl Heap {
    /// Makes a heap with a slab of free blocks; it is in the list of all heaps.
    pub fn create() -> *mut Heap {
        let unit = Unit::new(UNITS.fetch_add(1, Relaxed));
        Heap::publish(Inside::new(unit), Vec::new(), Lock::new(), Standing::Attached)
    }

    pub(crate) fn publish(
        inside: Inside,
        cache: Vec<*mut u8>,
        lock: Lock,
        standing: Standing,
    ) -> *mut Heap {
        let heap = Box::into_raw(Box::new(Heap {
            lock,
            standing: AtomicU32::new(standing as u32),
            inbox: Inbox::new(),
            inside: UnsafeCell::new(inside),
            cache: UnsafeCell::new(cache),
            next: AtomicPtr::new(ptr::null_mut()),
            mark: Mark::new(),
            lease: Lease::new(),
            next_idle: UnsafeCell::new(ptr::null_mut()),
        }));
        MADE.lock().unwrap().push(Made(heap));
        let mut head = HEAPS.load(Relaxed);
        loop {
            // SAFETY: nobody else knows the heap yet.
            unsafe { (*heap).next.store(head, Relaxed) };
            match HEAPS.compare_exchange(head, heap, Release, Acquire) {
                Ok(_) => break,
                Err(now) => head = now,
            }
        }
        // SAFETY: heaps stay until the run is over.
        unsafe { STIRRED.join(&*heap) };
        heap
    }

    /// As in the heap.
    pub fn standing(&self) -> Standing {
        as_standing(self.standing.load(Relaxed))
    }

    /// What stands there at this moment, as a fork finds it.
    pub(crate) fn latest_standing(&self) -> Standing {
        as_standing(self.standing.look())
    }

    /// As in the heap.
    pub fn set_standing(&self, standing: Standing) {
        self.standing.store(standing as u32, Relaxed);
    }

    /// The models have no fast path that would look at the thread.
    pub fn set_thread(&self, _: usize) {}

    /// No thread's, in the models.
    pub fn thread(&self) -> usize {
        0
    }

    /// As in the heap.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// As in the heap.
    pub fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// As in the heap.
    pub fn next_idle(&self) -> *mut *mut Heap {
        self.next_idle.get()
    }

    /// As in the heap.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// As in the heap.
    ///
    /// # Safety
    /// `h` is a heap, in a child whose thread holds its lock.
    pub unsafe fn abandon_borrowed(h: *mut Heap) {
        // SAFETY: the caller's contract.
        unsafe { Borrowed::abandon(&raw mut (*(*h).inside.get()).slabs.borrowed) };
    }

    /// As in the heap, with one cache for all classes.
    ///
    /// # Safety
    /// `h` is a heap; whether its cache is the caller's, loom checks.
    pub unsafe fn cache(h: *mut Heap, _: Class) -> Cache {
        // SAFETY: heaps stay until the run is over.
        Cache::of(unsafe { &(*h).cache })
    }

    /// As in the heap.
    ///
    /// # Safety
    /// None.
    pub unsafe fn spares(_: *mut Heap) -> Spares {
        Spares
    }
}

fn as_standing(word: u32) -> Standing {
    match word {
        0 => Standing::Attached,
        1 => Standing::Orphan,
        3 => Standing::Born,
        4 => Standing::Retired,
        _ => Standing::Lost,
    }
}

/// As in the heap.
pub fn each_heap(mut f: impl FnMut(*mut Heap)) {
    let mut h = HEAPS.load(Acquire);
    while !h.is_null() {
        f(h);
        // SAFETY: heaps stay until the run is over.
        h = unsafe { (*h).next.load(Relaxed) };
    }
}
