//! The heap as Rust's global allocator.

use allod_heap as heap;
use core::alloc::{GlobalAlloc, Layout};

/// The heap as Rust's global allocator.
///
/// Blocks are aligned to 16 bytes or to what the layout asks for, whichever is more. Any thread may
/// free any block. Null (and so `handle_alloc_error`) when memory is out. An allocation and its free
/// cost about 2 ns together while the thread's front cache serves them.
///
/// C libraries in the same program keep the malloc they had; link or preload `liballod.so` to move
/// them too.
///
/// ```
/// #[global_allocator]
/// static A: allod::Allod = allod::Allod;
///
/// let mut v = vec![0u8; 1000];
/// v.reserve(1 << 20);
/// assert!(v.iter().all(|&b| b == 0));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Allod;

// SAFETY: the heap hands out disjoint blocks of the size and alignment asked for, keeps their
// contents over `realloc`, and never unwinds.
unsafe impl GlobalAlloc for Allod {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        heap::aligned_alloc(layout.align(), layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        heap::aligned_alloc_zeroed(layout.align(), layout.size())
    }

    #[inline]
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: a live block of this layout (contract of the trait).
        unsafe { heap::dealloc(p, layout.align(), layout.size()) }
    }

    #[inline]
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: a live block of this layout (contract of the trait).
        unsafe { heap::realloc_aligned(p, layout.align(), size) }
    }
}

/// A library with Allod inside stays loaded when it is closed. Stacks of samples are walked by unwind tables.
extern "C" fn on_load() {
    heap::process::stay_loaded();
    heap::sampling::walk_with(allod_unwind::walk, 0..0);
}

#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
static ON_LOAD: extern "C" fn() = on_load;
