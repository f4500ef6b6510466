//! Memory for the moment in which the allocator underneath is looked up.
//!
//! Looking a function up may allocate. Such blocks are cut from a small array and never used again.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};

const BYTES: usize = 16 << 10;

#[repr(C, align(16))]
struct Array(UnsafeCell<[u8; BYTES]>);

// SAFETY: `USED` hands each byte out once; whoever got it is its only user.
unsafe impl Sync for Array {}

static ARRAY: Array = Array(UnsafeCell::new([0; BYTES]));
static USED: AtomicUsize = AtomicUsize::new(0);

/// A block of zeros, aligned to 16; null when all are used up.
#[cold]
pub(crate) fn allocate(size: usize) -> *mut u8 {
    if size > BYTES {
        return core::ptr::null_mut();
    }
    let at = USED.fetch_add(size.next_multiple_of(16), Ordering::Relaxed);
    if at > BYTES - size {
        return core::ptr::null_mut();
    }
    // SAFETY: the block ends inside the array.
    unsafe { ARRAY.0.get().cast::<u8>().add(at) }
}

/// How many bytes of the array lie at and behind `block`; 0 when it is not one of these.
#[inline]
pub(crate) fn room_behind(block: *const u8) -> usize {
    let offset = (block as usize).wrapping_sub(ARRAY.0.get() as usize);
    BYTES.saturating_sub(offset)
}
