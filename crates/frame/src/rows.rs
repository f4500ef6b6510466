//! One row of counters per thread, added up when read.
//!
//! Only the row's thread writes to it, so counting needs no atomic read-modify-write. When its
//! thread ends, the row stays and a later thread continues with it, so sums lose nothing.

use allod_frame_core::forks::Guarded;
use core::sync::atomic::{AtomicBool, Ordering};
use std::boxed::Box;
use std::vec::Vec;

/// A row, and whether a living thread has it.
pub(crate) struct Held<R> {
    taken: AtomicBool,
    pub(crate) row: R,
}

impl<R> Held<R> {
    /// The thread has ended.
    pub(crate) fn give_back(&self) {
        self.taken.store(false, Ordering::Release);
    }
}

/// The rows of all threads.
pub(crate) struct Rows<R: 'static>(Guarded<Vec<&'static Held<R>>>);

impl<R: Default + Sync> Rows<R> {
    pub(crate) const fn new() -> Rows<R> {
        Rows(Guarded::new(Vec::new()))
    }

    /// A row that no living thread has and that is `fit`, or a new one.
    pub(crate) fn claim(&'static self, fit: impl Fn(&R) -> bool) -> &'static Held<R> {
        self.0.with(|rows| {
            for held in rows.iter() {
                if !held.taken.load(Ordering::Acquire) && fit(&held.row) {
                    held.taken.store(true, Ordering::Relaxed);
                    return *held;
                }
            }
            let held = Held { taken: AtomicBool::new(true), row: R::default() };
            let held = &*Box::leak(Box::new(held));
            rows.push(held);
            held
        })
    }

    /// Calls `visit` with every row.
    pub(crate) fn each(&'static self, visit: impl FnMut(&'static R)) {
        self.0.with(|rows| rows.iter().map(|held| &held.row).for_each(visit));
    }
}

/// Defines `own()`: the calling thread's row, found by one load; `None` once the thread's locals are
/// gone. `$leave` is called with the row when the thread ends.
macro_rules! row_a_thread {
    ($rows:ident: $row:ty, fit $fit:expr, leave $leave:expr) => {
        static $rows: $crate::rows::Rows<$row> = $crate::rows::Rows::new();

        std::thread_local! {
            static HERE: core::cell::Cell<Option<&'static $row>> =
                const { core::cell::Cell::new(None) };
            static HOLD: Hold = Hold($rows.claim($fit));
        }

        struct Hold(&'static $crate::rows::Held<$row>);

        impl Drop for Hold {
            fn drop(&mut self) {
                HERE.set(None);
                let leave: fn(&'static $row) = $leave;
                leave(&self.0.row);
                self.0.give_back();
            }
        }

        /// The calling thread's row.
        #[inline(always)]
        fn own() -> Option<&'static $row> {
            HERE.get().or_else(first_use)
        }

        #[cold]
        fn first_use() -> Option<&'static $row> {
            let row = HOLD.try_with(|hold| &hold.0.row).ok();
            HERE.set(row);
            row
        }
    };
}
pub(crate) use row_a_thread;
