//! A heap that is only a lock, a standing, an inbox, and the blocks that are free in it.

use crate::inbox::Inbox;
use crate::lock::Lock;
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// As in the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A living thread's.
    Attached,
    /// Its thread has ended.
    Orphan,
}

/// What the protocols need of a heap.
pub struct Heap {
    /// As in the heap.
    pub lock: Lock,
    /// As in the heap.
    pub inbox: Inbox,
    standing: AtomicU32,
    /// Free blocks of the slabs: with the lock held only, which loom checks.
    pub slabs: UnsafeCell<Vec<usize>>,
    /// Blocks in the front cache: the owner's only, which loom checks.
    pub cache: UnsafeCell<Vec<usize>>,
    /// As in the heap.
    pub next_idle: *mut Heap,
}

impl Heap {
    /// A heap without blocks, attached to the calling thread.
    pub fn new() -> Heap {
        Heap {
            lock: Lock::new(),
            inbox: Inbox::new(),
            standing: AtomicU32::new(0),
            slabs: UnsafeCell::new(Vec::new()),
            cache: UnsafeCell::new(Vec::new()),
            next_idle: std::ptr::null_mut(),
        }
    }

    /// As in the heap.
    pub fn standing(&self) -> Standing {
        if self.standing.load(Relaxed) == 0 { Standing::Attached } else { Standing::Orphan }
    }

    /// As in the heap.
    pub fn set_standing(&self, standing: Standing) {
        self.standing.store(u32::from(standing == Standing::Orphan), Relaxed);
    }

    /// The models have no fast path that would look at the thread.
    pub fn set_thread(&self, _: usize) {}
}

impl Default for Heap {
    fn default() -> Self {
        Self::new()
    }
}
