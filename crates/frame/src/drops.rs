//! Values that are dropped at the end of their frame.
//!
//! Each registered value, or slice of values, has an entry in the frame itself; entries are linked
//! from the newest to the oldest and run in that order.

use core::ptr;

/// One registered drop.
pub(crate) struct Entry {
    pub(crate) older: *mut Entry,
    /// Increases over the arena's life and is never reused, so that a checkpoint knows which
    /// entries are newer than itself even after other rollbacks.
    pub(crate) stamp: u64,
    pub(crate) value: *mut u8,
    pub(crate) count: usize,
    pub(crate) drop: unsafe fn(*mut u8, usize),
}

impl Entry {
    /// The entry for `count` values of `T`, newer than `older`.
    pub(crate) fn new<T>(stamp: u64, older: *mut Entry, value: *mut T, count: usize) -> Entry {
        unsafe fn drop_all<T>(value: *mut u8, count: usize) {
            // SAFETY: called once for what was registered as `count` values of `T`.
            unsafe { ptr::slice_from_raw_parts_mut(value.cast::<T>(), count).drop_in_place() }
        }
        Entry { older, stamp, value: value.cast(), count, drop: drop_all::<T> }
    }

    /// The stamp of the newest entry; 0 if there is none.
    ///
    /// # Safety
    /// `newest` is null or a live entry.
    pub(crate) unsafe fn stamp(newest: *mut Entry) -> u64 {
        // SAFETY: the caller's contract.
        if newest.is_null() { 0 } else { unsafe { (*newest).stamp } }
    }

    /// Puts the entries of `newer` before those of `older`.
    ///
    /// # Safety
    /// Both are null or live lists, disjoint, and `newer` is not null.
    pub(crate) unsafe fn append(newer: *mut Entry, older: *mut Entry) {
        // SAFETY: the caller's contract.
        unsafe {
            let mut entry = newer;
            while !(*entry).older.is_null() {
                entry = (*entry).older;
            }
            (*entry).older = older;
        }
    }
}

/// The newest entry that is not newer than the stamp `keep`.
///
/// # Safety
/// `newest` is null or a live list.
pub(crate) unsafe fn down_to(newest: *mut Entry, keep: u64) -> *mut Entry {
    let mut entry = newest;
    // SAFETY: the caller's contract; null has the least stamp.
    unsafe {
        while Entry::stamp(entry) > keep {
            entry = (*entry).older;
        }
    }
    entry
}

/// Drops registered values, newest first, down to the entry stamped `keep`. If a drop
/// panics, the others still run.
///
/// # Safety
/// `newest` is null or a live list; no value dropped here is used again.
#[cold]
#[inline(never)]
pub(crate) unsafe fn run(newest: *mut Entry, keep: u64) {
    struct Rest {
        newest: *mut Entry,
        keep: u64,
    }
    impl Rest {
        fn run(&mut self) {
            // SAFETY: each entry leaves the list before its drop runs, so it runs once.
            unsafe {
                while Entry::stamp(self.newest) > self.keep {
                    let entry = self.newest;
                    self.newest = (*entry).older;
                    ((*entry).drop)((*entry).value, (*entry).count);
                }
            }
        }
    }
    impl Drop for Rest {
        fn drop(&mut self) {
            self.run();
        }
    }
    Rest { newest, keep }.run();
}
