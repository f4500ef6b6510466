//! Zeroed blocks: from memory that is known to be zero, where that pays.

use crate::base::class::Class;
use crate::heap::counting;
use crate::heap::heap::Heap;
use crate::paths::alloc::{ordinary, sampled};
use crate::sample;
use crate::thread::attach::{Here, here};
use core::ptr;

/// Zeroed blocks from this size on are taken from memory known to be zero, if there is some.
const ZERO_FROM: usize = 16 * 1024;

/// A block of at most [`MEDIUM_LIMIT`](crate::base::class::MEDIUM_LIMIT) bytes, at a multiple of `align`, of which
/// every byte is zero.
#[inline]
pub fn block(class: Class, size: usize, align: usize) -> *mut u8 {
    if sample::is_on()
        && let Some(block) = sampled(class, size, align)
    {
        return cleared(block, size, false);
    }
    if class.size() >= ZERO_FROM
        && let Some(block) = zeroed_fresh(class)
    {
        return block;
    }
    cleared(ordinary(class), size, false)
}

/// A block from memory that is known to be zero.
fn zeroed_fresh(class: Class) -> Option<*mut u8> {
    let Here::Own(h) = here() else { return None };
    // SAFETY: the heap is this thread's own.
    unsafe {
        if !Heap::cache(h, class).newest().is_null() {
            // Clearing warm memory is faster than faulting in new pages.
            return None;
        }
        let block = Heap::enter(h)?.inside().slabs.take_zero(class)?;
        counting::count_malloc(h, Heap::bin(h, class));
        Some(block)
    }
}

/// Clears a new block unless it is clean or null.
#[inline(always)]
pub fn cleared(block: *mut u8, size: usize, clean: bool) -> *mut u8 {
    if !block.is_null() && !clean {
        // SAFETY: the block is new and holds `size` bytes.
        unsafe { ptr::write_bytes(block, 0, size) };
    }
    block
}
