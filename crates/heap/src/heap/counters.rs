//! What a heap counts.
//!
//! Counters of the slow paths are always on, one set per heap, summed when read. Counters of the fast
//! paths exist with the feature `stats` only; without it the functions here that count are empty
//! and the record has no size.

/// Counters of a heap's slow paths, written with its lock held.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SlowCounters {
    /// Front caches filled from slabs or mail.
    pub refills: u64,
    /// Bytes of blocks that left slabs for front caches.
    pub filled_bytes: u64,
    /// Front caches emptied by half into slabs.
    pub flushes: u64,
    /// Slabs taken from the span source or from runs kept near.
    pub slabs: u64,
    /// Slabs given up.
    pub slabs_released: u64,
    /// Parcels of remote frees sent; counted where they are filled, and filled in when read.
    pub parcels_sent: u64,
    /// Parcels of remote frees unpacked.
    pub parcels_received: u64,
}

impl SlowCounters {
    /// All zero.
    pub const fn new() -> SlowCounters {
        SlowCounters {
            refills: 0,
            filled_bytes: 0,
            flushes: 0,
            slabs: 0,
            slabs_released: 0,
            parcels_sent: 0,
            parcels_received: 0,
        }
    }

    /// Adds another heap's.
    pub fn add(&mut self, other: &SlowCounters) {
        self.refills += other.refills;
        self.filled_bytes += other.filled_bytes;
        self.flushes += other.flushes;
        self.slabs += other.slabs;
        self.slabs_released += other.slabs_released;
        self.parcels_sent += other.parcels_sent;
        self.parcels_received += other.parcels_received;
    }
}

#[cfg(feature = "stats")]
mod fast {
    use crate::base::class::CLASSES;

    /// Allocations and frees on the fast path, by class.
    #[repr(C)]
    #[derive(Debug)]
    pub struct FastCounters {
        pub(in crate::heap) allocations: [u64; CLASSES],
        pub(in crate::heap) frees: [u64; CLASSES],
    }

    impl FastCounters {
        /// All zero.
        pub const fn new() -> FastCounters {
            FastCounters { allocations: [0; CLASSES], frees: [0; CLASSES] }
        }
    }

    impl Default for FastCounters {
        fn default() -> Self {
            Self::new()
        }
    }
}

#[cfg(not(feature = "stats"))]
mod fast {
    /// Nothing is counted.
    #[derive(Debug, Default)]
    pub struct FastCounters;

    impl FastCounters {
        /// Nothing.
        pub const fn new() -> FastCounters {
            FastCounters
        }
    }
}

pub use fast::FastCounters;
