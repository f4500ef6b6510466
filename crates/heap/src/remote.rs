//! Remote frees: blocks that one thread frees and another owns.
//!
//! A thread that frees a block of another thread's puts the pointer into a **parcel** for that
//! owner. A full parcel is pushed onto the owner's **inbox** with one atomic exchange; the owner
//! takes all parcels out with one atomic when a front cache has run empty, and puts their blocks
//! straight into its front caches.
//!
//! ```text
//!  consumer                              producer
//!  outgoing[k] ─▶ parcel ──CAS──▶ inbox ─▶ parcel ─▶ parcel …   swap ──▶ front caches
//! ```
//! Parcels carry pointers in an array, not in a chain through the blocks: neither side touches the
//! blocks themselves, so their cache lines stay where they are used (message batching after
//! snmalloc, Liétar et al., ISMM 2019; the array instead of the chain is ours).

use crate::sync::{AtomicPtr, Ordering};
use allod_os::lock::Lock;
use core::cell::UnsafeCell;
use core::ptr;

/// Pointers in a parcel; a parcel fills 512 bytes.
pub const PARCEL: usize = 61;

/// A batch of freed blocks on its way to their owner.
#[repr(C)]
pub struct Parcel {
    /// Next parcel in an inbox or a list of spares.
    pub next: *mut Parcel,
    /// Blocks in `items`.
    pub count: u32,
    /// Parcels from this one to the end of the inbox, roughly.
    pub depth: u32,
    /// Bytes of the blocks in `items`.
    pub bytes: usize,
    /// The blocks.
    pub items: [*mut u8; PARCEL],
}

/// Where other threads leave parcels for the owner of a heap. A stack: many push, one takes all.
pub struct Inbox {
    head: AtomicPtr<Parcel>,
}

impl Default for Inbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Inbox {
    /// An empty inbox.
    #[cfg(not(loom))]
    pub const fn new() -> Inbox {
        Inbox { head: AtomicPtr::new(ptr::null_mut()) }
    }

    /// An empty inbox.
    #[cfg(loom)]
    pub fn new() -> Inbox {
        Inbox { head: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Leaves a parcel. Returns how many lie there now, roughly.
    ///
    /// # Safety
    /// The parcel is the caller's and in no list; it is the taker's afterwards.
    pub unsafe fn push(&self, parcel: *mut Parcel) -> u32 {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            // SAFETY: the parcel is ours until the exchange succeeds. Reading the depth of `head`
            // is safe although a taker may have it by now: parcels are never unmapped, and a stale
            // number only misjudges the depth.
            unsafe {
                (*parcel).next = head;
                (*parcel).depth = if head.is_null() { 1 } else { depth_of(head) + 1 };
            }
            // Release: the taker sees the contents. (ABA is harmless: nothing is ever popped singly.)
            match self.head.compare_exchange_weak(
                head,
                parcel,
                Ordering::Release,
                Ordering::Acquire,
            ) {
                // SAFETY: as above, a stale number only misjudges.
                Ok(_) => return unsafe { depth_of(parcel) },
                Err(now) => head = now,
            }
        }
    }

    /// True when nothing lies there. A hint: parcels may arrive at any time.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head.load(Ordering::Relaxed).is_null()
    }

    /// Takes all parcels, newest first, linked by `next`.
    pub fn take_all(&self) -> *mut Parcel {
        self.head.swap(ptr::null_mut(), Ordering::Acquire)
    }
}

/// Reads a parcel's depth while another thread may own it.
unsafe fn depth_of(parcel: *mut Parcel) -> u32 {
    #[cfg(not(loom))]
    // SAFETY: parcels are never unmapped; the field is only ever written whole.
    unsafe {
        core::sync::atomic::AtomicU32::from_ptr(&raw mut (*parcel).depth).load(Ordering::Relaxed)
    }
    #[cfg(loom)]
    {
        let _ = parcel;
        0
    }
}

/// Blocks collected for one owner.
pub struct Outgoing {
    /// The owner's heap.
    pub to: *mut crate::heap::Heap,
    /// The parcel being filled; null when there is none.
    pub parcel: *mut Parcel,
}

impl Outgoing {
    /// For nobody, with nothing in it.
    pub const fn new() -> Outgoing {
        Outgoing { to: ptr::null_mut(), parcel: ptr::null_mut() }
    }
}

impl Default for Outgoing {
    fn default() -> Self {
        Self::new()
    }
}

/// Empty parcels, shared by all threads.
pub struct Pool {
    pub(crate) lock: Lock,
    first: UnsafeCell<*mut Parcel>,
}

// SAFETY: `first` is touched only with `lock` held.
unsafe impl Sync for Pool {}

/// The empty parcels of this process.
pub static POOL: Pool = Pool { lock: Lock::new(), first: UnsafeCell::new(ptr::null_mut()) };

impl Pool {
    /// Takes up to `n` linked empty parcels; null when memory is out.
    pub fn take(&self, n: usize) -> *mut Parcel {
        self.lock.with(|| {
            // SAFETY: the lock is held; pooled parcels are nobody's.
            unsafe {
                let first = self.first.get();
                if (*first).is_null() {
                    *first = carve();
                }
                let taken = *first;
                let mut last = taken;
                if last.is_null() {
                    return taken;
                }
                for _ in 1..n {
                    if (*last).next.is_null() {
                        break;
                    }
                    last = (*last).next;
                }
                *first = (*last).next;
                (*last).next = ptr::null_mut();
                taken
            }
        })
    }

    /// Puts one empty parcel back.
    ///
    /// # Safety
    /// The parcel is the caller's and in no list.
    pub unsafe fn put(&self, parcel: *mut Parcel) {
        self.lock.with(|| {
            // SAFETY: the lock is held; the parcel is ours.
            unsafe {
                (*parcel).next = *self.first.get();
                *self.first.get() = parcel;
            }
        });
    }
}

/// Cuts a fresh span into linked parcels; null when memory is out.
fn carve() -> *mut Parcel {
    let Some(start) = crate::slab::internal_unit() else { return ptr::null_mut() };
    let mut first: *mut Parcel = ptr::null_mut();
    for i in 0..crate::layout::UNIT / size_of::<Parcel>() {
        let parcel = (start + i * size_of::<Parcel>()) as *mut Parcel;
        // SAFETY: the unit is fresh and ours.
        unsafe { (*parcel).next = first };
        first = parcel;
    }
    first
}
