//! The symbols that a thread used recently: a small cache, which [`pool`](crate::memory::pool) keeps with the
//! thread's other state and [`symbol`](crate::objects::symbol) looks in.

use core::ptr;

/// Pairs of entries in a thread's `Recent`.
pub(crate) const REMEMBERED: usize = 512;

/// The symbols that a thread used recently, found by their names' first and last bytes: a small two-way
/// set-associative cache of 8 KiB.
///
/// The hash here is cheap and needs no secrecy: names chosen to collide evict each other, and are
/// then found in the shared table, under its keyed hash.
#[repr(C, align(64))]
pub(crate) struct Recent(pub(crate) [[*mut u64; 2]; REMEMBERED]);

/// What a thread starts with. Never written.
struct Nothing(Recent);
// SAFETY: never written.
unsafe impl Sync for Nothing {}
static NOTHING: Nothing = Nothing(Recent([[ptr::null_mut(); 2]; REMEMBERED]));
pub(crate) const NOTHING_RECENT: *mut Recent = (&raw const NOTHING.0).cast_mut();

impl Recent {
    /// A thread's own, empty; null when memory is out.
    pub(crate) fn new() -> *mut Recent {
        allod_heap::aligned_alloc_zeroed(align_of::<Recent>(), size_of::<Recent>()).cast()
    }
}
