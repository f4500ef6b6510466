//! Parcels, and the pool of empty ones.

use crate::base::layout::UNIT;
use crate::base::sync::Ordering::Relaxed;
use crate::base::sync::{AtomicU32, AtomicU64, Lock, UnsafeCell, const_fn, process_wide};
use crate::source;
use allod_os::lock::Held;
use core::ptr;

/// Pointers in a parcel; a parcel fills 512 bytes.
pub const PARCEL: usize = 61;

/// Parcels in the smallest bundle of empty ones.
pub const LEAST_BUNDLE: u32 = 16;

/// A batch of freed blocks on its way to their owner; or an empty one, in a bundle.
#[repr(C)]
pub struct Parcel {
    /// Next parcel in an inbox or a bundle.
    pub next: *mut Parcel,
    /// Blocks in `items`; in the first parcel of a bundle, parcels in the bundle.
    pub count: u32,
    /// Parcels from this one to the end of the inbox, roughly.
    pub depth: AtomicU32,
    /// Bytes of the blocks in `items`.
    pub bytes: usize,
    /// The blocks.
    pub items: [*mut u8; PARCEL],
}

impl Parcel {
    /// The blocks in a parcel.
    ///
    /// # Safety
    /// The parcel is the caller's, and stays as it is while the slice is used.
    pub unsafe fn blocks<'a>(parcel: *const Parcel) -> &'a [*mut u8] {
        // SAFETY: the caller's contract; `count` never exceeds the array.
        unsafe { &(&(*parcel).items)[..(*parcel).count as usize] }
    }

    /// Where the first parcel of a bundle in the pool keeps the next bundle.
    fn next_bundle(bundle: *mut Parcel) -> *mut *mut Parcel {
        // SAFETY: only the address is computed.
        unsafe { (&raw mut (*bundle).items).cast() }
    }
}

/// Empty parcels in bundles, shared by all threads. A bundle changes hands whole, whatever its size.
pub struct Pool {
    lock: Lock,
    first: UnsafeCell<*mut Parcel>,
    /// Times the lock was taken.
    pub locked: AtomicU64,
}

// SAFETY: `first` is touched only with `lock` held.
unsafe impl Sync for Pool {}

process_wide! {
    /// The empty parcels of this process.
    pub static POOL: Pool = Pool::new();
}

impl Pool {
    const_fn! {
        /// No parcels yet.
        pub fn new() -> Pool {
            Pool {
                lock: Lock::new(),
                first: UnsafeCell::new(ptr::null_mut()),
                locked: AtomicU64::new(0),
            }
        }
    }

    /// Takes a bundle of empty parcels; null when memory is out.
    pub fn take(&self) -> *mut Parcel {
        let Some(held) = self.enter() else { return ptr::null_mut() };
        // SAFETY: the lock is held; pooled parcels are nobody's.
        unsafe {
            let first = self.first.get();
            let bundle = *first;
            if bundle.is_null() {
                // Outside the lock: the source may open memory, which takes a while.
                drop(held);
                return carve(self);
            }
            *first = *Parcel::next_bundle(bundle);
            bundle
        }
    }

    /// Takes one empty parcel; null when memory is out.
    pub fn take_one(&self) -> *mut Parcel {
        let parcel = self.take();
        // SAFETY: the bundle is the caller's; the rest of it is returned.
        unsafe {
            if !parcel.is_null() && !(*parcel).next.is_null() {
                let rest = (*parcel).next;
                (*rest).count = (*parcel).count - 1;
                self.put(rest);
            }
        }
        parcel
    }

    /// Puts a bundle back.
    ///
    /// # Safety
    /// The bundle is the caller's.
    pub unsafe fn put(&self, bundle: *mut Parcel) {
        // If the lock cannot be taken because this thread was interrupted holding it, the parcels are lost.
        if let Some(_held) = self.enter() {
            // SAFETY: the lock is held; the parcels are the caller's.
            unsafe {
                *Parcel::next_bundle(bundle) = *self.first.get();
                *self.first.get() = bundle;
            }
        }
    }

    /// Puts `count` parcels back, linked from `first` to `last`, in one bundle with others that came back singly.
    ///
    /// # Safety
    /// The parcels are the caller's, and in no list.
    pub unsafe fn put_few(&self, first: *mut Parcel, last: *mut Parcel, count: u32) {
        // As above.
        if let Some(_held) = self.enter() {
            // SAFETY: the lock is held; the parcels are the caller's.
            unsafe {
                let top = *self.first.get();
                (*first).count = count;
                if !top.is_null() && (*top).count < LEAST_BUNDLE {
                    (*last).next = top;
                    (*first).count += (*top).count;
                    *Parcel::next_bundle(first) = *Parcel::next_bundle(top);
                } else {
                    (*last).next = ptr::null_mut();
                    *Parcel::next_bundle(first) = top;
                }
                *self.first.get() = first;
            }
        }
    }

    fn enter(&self) -> Option<Held<'_>> {
        let held = self.lock.enter()?;
        self.locked.store(self.locked.load(Relaxed) + 1, Relaxed);
        Some(held)
    }

    /// The pool's lock, for a fork.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }
}

/// Cuts a fresh span into bundles: one for the caller, the rest for the pool. Null when memory is out.
#[cold]
fn carve(pool: &Pool) -> *mut Parcel {
    const EACH: usize = LEAST_BUNDLE as usize;
    const PARCELS: usize = UNIT / size_of::<Parcel>();
    let Some((start, _)) = source::internal(UNIT) else { return ptr::null_mut() };
    let parcel = |i: usize| (start + i * size_of::<Parcel>()) as *mut Parcel;
    for i in (0..PARCELS).rev() {
        let is_last = (i + 1) % EACH == 0;
        // SAFETY: the unit is fresh and ours; the parcels behind this one are a bundle by now.
        unsafe {
            (*parcel(i)).next = if is_last { ptr::null_mut() } else { parcel(i + 1) };
            (*parcel(i)).count = LEAST_BUNDLE;
            if i % EACH == 0 && i > 0 {
                pool.put(parcel(i));
            }
        }
    }
    parcel(0)
}
