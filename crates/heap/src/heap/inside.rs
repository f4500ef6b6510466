//! What a heap's lock guards.

use crate::base::class::CLASSES;
use crate::heap::caches::CacheState;
use crate::heap::counters::SlowCounters;
use crate::mail::parcel::Parcel;
use crate::slab::Slabs;
use core::ptr;

/// What a heap's lock guards.
pub struct Inside {
    /// Slabs and runs kept near.
    pub slabs: Slabs,
    /// How the front caches are used.
    pub caches: [CacheState; CLASSES],
    /// Bytes of growth left to the front caches.
    pub budget: usize,
    /// Since when the heap has been an orphan with its front caches full; 0 when it is not.
    pub left_at: u32,
    /// Slabs made up to the last turn of purging.
    pub made_before: u64,
    /// When a turn last found that there were more.
    pub made_at: u32,
    /// Parcels taken out of the inbox and not yet unpacked.
    pub pending: *mut Parcel,
    /// Counters of the slow path.
    pub slow: SlowCounters,
}

impl Inside {
    /// For a heap without memory and without room in its front caches.
    pub const fn new() -> Inside {
        Inside {
            slabs: Slabs::new(),
            caches: [CacheState::new(); CLASSES],
            budget: 0,
            left_at: 0,
            made_before: 0,
            made_at: 0,
            pending: ptr::null_mut(),
            slow: SlowCounters::new(),
        }
    }
}

impl Default for Inside {
    fn default() -> Self {
        Self::new()
    }
}
