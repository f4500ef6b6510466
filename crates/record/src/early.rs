//! Memory for use while the underlying allocator is looked up.
//!
//! Looking a function up may allocate. Such blocks come from a small array and are never reused.

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

/// The number of bytes of the array from `block` on; 0 if it is not one of these.
#[inline]
pub(crate) fn room_behind(block: *const u8) -> usize {
    let offset = (block as usize).wrapping_sub(ARRAY.0.get() as usize);
    BYTES.saturating_sub(offset)
}
