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
    use crate::base::class::{CLASSES, Class};
    use crate::heap::drawn::class_of;
    use crate::heap::heap::Heap;
    use crate::map::bin::{Bin, heap_and_class};

    /// Allocations and frees on the fast path, by class.
    #[repr(C)]
    #[derive(Debug)]
    pub struct FastCounters {
        allocations: [u64; CLASSES],
        frees: [u64; CLASSES],
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

    /// Counts an allocation from a front cache.
    ///
    /// # Safety
    /// `bin` is one of the bins of `h`, which is the caller's.
    #[inline(always)]
    pub unsafe fn count_malloc(h: *mut Heap, bin: *const Bin) {
        // SAFETY: the caller's contract.
        unsafe { (*h).counters.allocations[class_of(h, bin).index()] += 1 };
    }

    /// Counts a free into a front cache.
    ///
    /// # Safety
    /// `bin` is a bin of the calling thread's own heap.
    #[inline(always)]
    pub unsafe fn count_free(bin: *const Bin) {
        let (h, class) = heap_and_class(bin);
        // SAFETY: the caller's contract.
        unsafe { (*(h as *mut Heap)).counters.frees[class.index()] += 1 };
    }

    /// Allocations and frees of a class in a heap so far.
    ///
    /// # Safety
    /// `h` is a heap.
    pub unsafe fn counted(h: *const Heap, class: Class) -> (u64, u64) {
        // SAFETY: heaps are never freed; each word is written whole by its owner.
        unsafe {
            let read = |p: *const u64| p.read_volatile();
            (
                read(&raw const (*h).counters.allocations[class.index()]),
                read(&raw const (*h).counters.frees[class.index()]),
            )
        }
    }
}

#[cfg(not(feature = "stats"))]
mod fast {
    use crate::base::class::Class;
    use crate::heap::heap::Heap;
    use crate::map::bin::Bin;

    /// Nothing is counted.
    #[derive(Debug, Default)]
    pub struct FastCounters;

    impl FastCounters {
        /// Nothing.
        pub const fn new() -> FastCounters {
            FastCounters
        }
    }

    /// Counts nothing.
    ///
    /// # Safety
    /// None needed; the signature is that of the counting form.
    #[inline(always)]
    pub unsafe fn count_malloc(_: *mut Heap, _: *const Bin) {}

    /// Counts nothing.
    ///
    /// # Safety
    /// None needed; the signature is that of the counting form.
    #[inline(always)]
    pub unsafe fn count_free(_: *const Bin) {}

    /// Nothing was counted.
    ///
    /// # Safety
    /// None needed; the signature is that of the counting form.
    pub unsafe fn counted(_: *const Heap, _: Class) -> (u64, u64) {
        (0, 0)
    }
}

pub use fast::{FastCounters, count_free, count_malloc, counted};
