//! Parcels, and the pool of empty ones.

use crate::base::layout::UNIT;
use crate::base::sync::Ordering::Relaxed;
use crate::base::sync::{AtomicU32, AtomicU64, Lock, UnsafeCell, const_fn, process_wide};
use crate::source;
use core::ptr;

/// Pointers in a parcel; a parcel fills 512 bytes.
pub const PARCEL: usize = 61;

/// A batch of freed blocks on its way to their owner.
#[repr(C)]
pub struct Parcel {
    /// Next parcel in an inbox or a list of empty ones.
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

impl Parcel {
    /// The blocks in a parcel.
    ///
    /// # Safety
    /// The parcel is the caller's, and stays as it is while the slice is used.
    pub unsafe fn blocks<'a>(parcel: *const Parcel) -> &'a [*mut u8] {
        // SAFETY: the caller's contract; `count` never exceeds the array.
        unsafe { &(&(*parcel).items)[..(*parcel).count as usize] }
    }
}

/// Empty parcels, shared by all threads.
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

    /// Takes up to `n` linked empty parcels; null when memory is out.
    pub fn take(&self, n: usize) -> *mut Parcel {
        let Some(held) = self.lock.enter() else { return ptr::null_mut() };
        self.locked.store(self.locked.load(Relaxed) + 1, Relaxed);
        // SAFETY: the lock is held; pooled parcels are nobody's.
        unsafe {
            let first = self.first.get();
            if (*first).is_null() {
                // The source may open memory, which takes a while.
                drop(held);
                return carve(n, self);
            }
            split(&mut *first, n)
        }
    }

    /// Puts empty parcels back, from `first` to `last`.
    ///
    /// # Safety
    /// The parcels are the caller's, linked by `next`, and in no list.
    pub unsafe fn put(&self, first: *mut Parcel, last: *mut Parcel) {
        // A thread that was interrupted here loses the parcel.
        if let Some(_held) = self.lock.enter() {
            self.locked.store(self.locked.load(Relaxed) + 1, Relaxed);
            // SAFETY: the lock is held; the parcels are ours.
            unsafe {
                (*last).next = *self.first.get();
                *self.first.get() = first;
            }
        }
    }

    /// The pool's lock, for a fork.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }
}

/// Takes up to `n` parcels off the front of a list that is not empty.
unsafe fn split(list: &mut *mut Parcel, n: usize) -> *mut Parcel {
    let taken = *list;
    let mut last = taken;
    // SAFETY: the caller's list is linked by `next`.
    unsafe {
        for _ in 1..n {
            if (*last).next.is_null() {
                break;
            }
            last = (*last).next;
        }
        *list = (*last).next;
        (*last).next = ptr::null_mut();
    }
    taken
}

/// Cuts a fresh span into linked parcels: `n` for the caller, the rest for the pool. Null when
/// memory is out.
#[cold]
fn carve(n: usize, pool: &Pool) -> *mut Parcel {
    let Some((start, _)) = source::internal(UNIT) else { return ptr::null_mut() };
    let parcel = |i: usize| (start + i * size_of::<Parcel>()) as *mut Parcel;
    let last = UNIT / size_of::<Parcel>() - 1;
    for i in 0..=last {
        // SAFETY: the unit is fresh and ours.
        unsafe { (*parcel(i)).next = if i < last { parcel(i + 1) } else { ptr::null_mut() } };
    }
    let mut all = parcel(0);
    // SAFETY: the list is ours, and longer than any thread keeps.
    unsafe {
        let taken = split(&mut all, n);
        pool.put(all, parcel(last));
        taken
    }
}
