//! First-class heaps: heaps that a program makes, allocates from, and destroys whole.

use crate::class::{CLASSES, MEDIUM_LIMIT, class_of};
use crate::heap::{Heap as Core, Standing};
use crate::large;
use crate::map::MAP;
use crate::record::Kind;
use crate::slow;
use crate::source::SOURCE;
use allod_os::lock::Lock;
use core::cell::UnsafeCell;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

/// Guards the lists of retired heaps and the late heap. Before every heap's lock.
pub(crate) static LOCK: Lock = Lock::new();

struct Retired(UnsafeCell<*mut Core>);
// SAFETY: touched only with `LOCK` held.
unsafe impl Sync for Retired {}
static RETIRED: Retired = Retired(UnsafeCell::new(ptr::null_mut()));
static LATE: AtomicPtr<Core> = AtomicPtr::new(ptr::null_mut());

/// The heap that serves threads after their exit hook; `None` when memory is out.
pub(crate) fn late_heap() -> Option<*mut Core> {
    let late = LATE.load(Ordering::Acquire);
    if !late.is_null() {
        return Some(late);
    }
    LOCK.with(|| {
        if LATE.load(Ordering::Relaxed).is_null() {
            LATE.store(shared_core()?, Ordering::Release);
        }
        Some(LATE.load(Ordering::Relaxed))
    })
}

/// A heap for everybody, new or used again. With `LOCK` held.
fn shared_core() -> Option<*mut Core> {
    // SAFETY: the lock is held; retired heaps are nobody's.
    unsafe {
        let first = RETIRED.0.get();
        let mut h = *first;
        if h.is_null() {
            h = Core::create();
        } else {
            *first = (*h).next_idle;
        }
        if h.is_null() {
            return None;
        }
        (*h).set_standing(Standing::Shared);
        Some(h)
    }
}

/// A heap of its own, apart from the threads' heaps, that can be destroyed whole.
///
/// A `Heap` is a handle: copying it copies no memory. All methods may be called from any thread;
/// they take the heap's lock (about 20 ns). Single blocks may also be freed with
/// [`free`](crate::free) from any thread. Nothing is destroyed by dropping the handle.
///
/// ```
/// use allod_heap::Heap;
/// let heap = Heap::new().expect("memory");
/// let p = heap.malloc(100);
/// assert!(!p.is_null());
/// // SAFETY: nothing of the heap is used afterwards.
/// unsafe { heap.destroy() };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heap(NonNull<Core>);

// SAFETY: every operation takes the heap's lock.
unsafe impl Send for Heap {}
// SAFETY: as for Send.
unsafe impl Sync for Heap {}

impl Heap {
    /// Makes an empty heap; `None` when memory is out.
    pub fn new() -> Option<Heap> {
        LOCK.with(|| NonNull::new(shared_core()?).map(Heap))
    }

    /// Takes `size` bytes aligned to 16; null when memory is out.
    pub fn malloc(self, size: usize) -> *mut u8 {
        if size > MEDIUM_LIMIT {
            return self.large(size, 1).block;
        }
        // SAFETY: the handle's heap is shared.
        unsafe { slow::malloc_shared(self.0.as_ptr(), class_of(size)) }
    }

    /// Like [`malloc`](Heap::malloc), with every byte zero.
    pub fn malloc_zeroed(self, size: usize) -> *mut u8 {
        if size > MEDIUM_LIMIT {
            let new = self.large(size, 1);
            return crate::zeroed(new.block, size, new.clean);
        }
        crate::zeroed(self.malloc(size), size, false)
    }

    /// Takes `size` bytes at a multiple of `align`, a power of two; null when memory is out.
    pub fn aligned_alloc(self, align: usize, size: usize) -> *mut u8 {
        if align <= crate::layout::MIN_ALIGN {
            return self.malloc(size);
        }
        match slow::aligned_class(align, size) {
            // SAFETY: the handle's heap is shared.
            Some(class) => unsafe { slow::malloc_shared(self.0.as_ptr(), class) },
            None => self.large(size, align).block,
        }
    }

    /// Resizes a block of this heap, moving it when needed; null when memory is out, with the old
    /// block untouched. `p` may be null.
    ///
    /// # Safety
    /// `p` is null or a live block of this heap; after success only the result is used.
    pub unsafe fn realloc(self, p: *mut u8, size: usize) -> *mut u8 {
        // SAFETY: the caller's contract.
        unsafe { crate::realloc_with(p, size, |size| self.malloc(size)) }
    }

    fn large(self, size: usize, align: usize) -> large::Large {
        large::alloc_for(self.0.as_ptr(), size, align)
    }

    /// Frees all blocks of the heap at once and ends it. Cost grows with its spans, not its blocks.
    ///
    /// # Safety
    /// No block of the heap, and no copy of the handle, is used during or after the call.
    pub unsafe fn destroy(self) {
        let h = self.0.as_ptr();
        // SAFETY: nobody else uses the heap any more (contract); the lock keeps purging out.
        unsafe {
            (*h).lock.lock();
            slow::settle_mail(h);
            loop {
                let unit = (*h).all as usize;
                if unit == 0 {
                    break;
                }
                let span = MAP.span(unit);
                Core::unlink_all(h, unit);
                let units = (*span).units as usize;
                match (*span).kind() {
                    Kind::Large => large::give(span, unit, units),
                    kind => SOURCE.give(unit, units, kind, false),
                }
            }
            for class in 0..CLASSES {
                Core::cache(h, class).set_len(0);
                let state = &mut (*h).classes[class];
                state.current = 0;
                state.partial = 0;
            }
            (*h).set_standing(Standing::Retired);
            (*h).lock.unlock();
            LOCK.with(|| {
                (*h).next_idle = *RETIRED.0.get();
                *RETIRED.0.get() = h;
            });
        }
        crate::purge::note_flush(1 << 20);
    }
}
