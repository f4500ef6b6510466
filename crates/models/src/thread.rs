//! Threads' numbers, and the heap's folder of this name.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[path = "../../heap/src/thread/idle.rs"]
pub mod idle;

static MADE: AtomicUsize = AtomicUsize::new(1);

loom::thread_local! {
    static POINTER: usize = MADE.fetch_add(1, Relaxed) << 6;
}

/// A number of the calling thread's own, which differs from others' in the bits that locks keep.
pub fn pointer() -> usize {
    POINTER.with(|pointer| *pointer)
}

/// Finding and leaving a heap.
pub mod attach {
    use crate::base::sync::process_wide;
    use crate::heap::heap::Standing;
    use crate::heap::locked::LockedHeap;
    use crate::thread::idle::Idle;

    process_wide! {
        /// As in the heap.
        pub static IDLE: Idle = Idle::new(Standing::Orphan);
    }

    /// As in the heap.
    pub fn mark_left(locked: &mut LockedHeap<'_>) {
        locked.inside().left_at = 1;
    }
}

/// Heaps for everybody.
pub mod shared {
    use crate::base::sync::process_wide;
    use crate::heap::heap::Standing;
    use crate::thread::idle::Idle;

    process_wide! {
        /// As in the heap.
        pub static RETIRED: Idle = Idle::new(Standing::Retired);
    }
}
