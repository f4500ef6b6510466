//! Allod, one memory system: a heap for any program, regions for runtimes, frames for loops.
#![no_std]

#[cfg(feature = "frame")]
pub use allod_frame as frame;

/// Regions: memory that goes all at once, with typed objects.
///
/// The derive macro names the crate `allod_region`:
///
/// ```
/// use allod::region::{self as allod_region, Region, Trace, Value};
///
/// #[derive(Trace)]
/// struct Named<'r> {
///     number: u32,
///     name: Value<'r>,
/// }
/// let r = Region::new();
/// let named = r.alloc(Named { number: 1, name: r.string("one") });
/// assert_eq!(named.name.as_str(), Some("one"));
/// assert_eq!(named.number, 1);
/// ```
#[cfg(feature = "region")]
pub mod region {
    pub use allod_region::*;
    pub use allod_region_derive::Trace;
}

use core::alloc::{GlobalAlloc, Layout};

/// The heap as Rust's global allocator.
///
/// ```
/// #[global_allocator]
/// static A: allod::Allod = allod::Allod;
/// let v = vec![1u8; 1000];
/// assert_eq!(v.len(), 1000);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Allod;

// SAFETY: the heap hands out disjoint, aligned blocks.
unsafe impl GlobalAlloc for Allod {
    unsafe fn alloc(&self, l: Layout) -> *mut u8 {
        allod_heap::aligned_alloc(l.align(), l.size())
    }
    unsafe fn dealloc(&self, p: *mut u8, _: Layout) {
        // SAFETY: the caller's contract.
        unsafe { allod_heap::free(p) }
    }
}
