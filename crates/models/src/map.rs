//! Span records, and a map of a few units.

#[path = "../../heap/src/map/bin.rs"]
pub mod bin;
#[path = "../../heap/src/map/links.rs"]
mod links;
#[path = "../../heap/src/map/record.rs"]
pub mod record;
pub mod span_map;

/// Far blocks, of which the models have none.
pub mod far {
    use crate::lock::Lock;
    use crate::process::process_wide;

    /// A table that is only its lock.
    pub struct Far(Lock);

    impl Far {
        /// The lock.
        pub fn lock(&self) -> &Lock {
            &self.0
        }
    }

    process_wide! {
        /// As in the heap.
        pub static FAR: Far = Far(Lock::new());
    }
}

/// Misuse, of which the models commit none.
pub mod misuse {
    /// As in the heap.
    #[derive(Clone, Copy, Debug)]
    pub struct Fault {
        /// The pointer.
        pub pointer: *const u8,
        /// What is wrong with it.
        pub what: Misuse,
    }

    /// As in the heap.
    #[derive(Clone, Copy, Debug)]
    pub enum Misuse {
        /// The block is free already.
        DoubleFree,
        /// No live block starts there.
        NotABlock,
    }
}

/// Front caches.
pub mod cache {
    use crate::base::sync::UnsafeCell;

    /// A heap's one front cache.
    #[derive(Clone, Copy)]
    pub struct Cache(*const UnsafeCell<Vec<*mut u8>>);

    impl Cache {
        /// A heap's cache.
        pub fn of(entries: &UnsafeCell<Vec<*mut u8>>) -> Cache {
            Cache(entries)
        }

        /// The entries, which are the caller's, as loom checks.
        pub fn entries<'a>(self) -> &'a mut Vec<*mut u8> {
            // SAFETY: heaps are not freed before the run ends.
            unsafe { &mut *(*self.0).get() }
        }

        /// As in the heap.
        pub fn newest(self) -> *mut u8 {
            self.entries().last().copied().unwrap_or(std::ptr::null_mut())
        }

        /// As in the heap: there is room for two.
        pub fn is_full(self) -> bool {
            self.entries().len() >= 2
        }

        /// As in the heap.
        #[allow(clippy::len_without_is_empty)]
        pub fn len(self) -> usize {
            self.entries().len()
        }

        /// As in the heap.
        ///
        /// # Safety
        /// As in the heap.
        pub unsafe fn push(self, block: *mut u8) {
            self.entries().push(block);
        }
    }
}
