//! Counting on the fast paths: with the feature `stats` only, else these functions are empty.

#[cfg(feature = "stats")]
mod fast {
    use crate::base::class::Class;
    use crate::heap::heap::{DRAWN, Heap};
    use crate::map::bin::{Bin, heap_and_class};

    /// Counts an allocation from a front cache.
    ///
    /// # Safety
    /// `bin` is one of the bins of `h`, which is the caller's.
    #[inline(always)]
    pub unsafe fn count_malloc(h: *mut Heap, bin: *const Bin) {
        // SAFETY: the caller's contract.
        unsafe { (*h).counters.allocations[class_of(h, bin).index()] += 1 };
    }

    /// The class of one of a heap's bins, those of drawn blocks among them.
    fn class_of(h: *const Heap, bin: *const Bin) -> Class {
        match (bin as usize - h as usize).checked_sub(DRAWN) {
            Some(offset) => Class::new(offset / size_of::<Bin>()),
            None => heap_and_class(bin).1,
        }
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

pub use fast::{count_free, count_malloc, counted};
