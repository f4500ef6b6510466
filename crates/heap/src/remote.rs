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

use crate::sync::AtomicU32;
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
    pub depth: AtomicU32,
    /// Bytes of the blocks in `items`.
    pub bytes: usize,
    /// The blocks.
    pub items: [*mut u8; PARCEL],
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
