//! Blocks of a frame that are reused within it.

use crate::aids;
use crate::error::OutOfMemory;
use crate::frame::Frame;
use allocator_api2::alloc::{AllocError, Allocator};
use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::{self, NonNull};

/// Classes of 16, 32, ... 32 KiB.
const CLASSES: usize = 12;
const SMALLEST: u32 = 4;
const ALIGN: usize = 16;

/// An allocator in a frame that reuses freed blocks: for collections that live long in a frame
/// and change a lot, such as maps, lists and trees.
///
/// Sizes are rounded up to powers of two from 16 bytes on; blocks above 32 KiB or aligned to more
/// than 16 come from the frame and stay until its end.
///
/// ```
/// use allocator_api2::{boxed::Box, vec::Vec};
/// use allod_frame::{Arena, Blocks};
/// Arena::new().frame(|f| {
///     let blocks = Blocks::new(&*f);
///     let first = Box::new_in([0u8; 100], &blocks);
///     let place = first.as_ptr();
///     let _newer = Box::new_in(1, &blocks);
///     drop(first);
///     assert_eq!(Box::new_in([1u8; 120], &blocks).as_ptr(), place, "used again");
/// });
/// ```
pub struct Blocks<'x, 'f> {
    frame: &'x Frame<'f>,
    free: [Cell<*mut Free>; CLASSES],
}

/// A free block.
struct Free {
    next: *mut Free,
}

impl<'x, 'f> Blocks<'x, 'f> {
    /// An allocator that takes its blocks from a frame.
    #[must_use]
    pub fn new(frame: &'x Frame<'f>) -> Self {
        Blocks { frame, free: [const { Cell::new(ptr::null_mut()) }; CLASSES] }
    }
}

/// The class of a layout and its size; `None` if the frame itself serves it.
#[inline]
fn class(layout: Layout) -> Option<(usize, usize)> {
    let bits = usize::BITS - layout.size().saturating_sub(1).leading_zeros();
    let class = bits.max(SMALLEST) - SMALLEST;
    ((class as usize) < CLASSES && layout.align() <= ALIGN)
        .then_some((class as usize, 1 << (class + SMALLEST)))
}

// SAFETY: a block is out of the free lists while it is in use, and its memory is the frame's, which
// outlives the reference to it.
unsafe impl Allocator for &Blocks<'_, '_> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let (block, size) = match class(layout) {
            Some((class, size)) => match NonNull::new(self.free[class].get()) {
                Some(free) => {
                    // SAFETY: blocks in the list are ours and begin with the link.
                    unsafe {
                        self.free[class].set(free.as_ref().next);
                        aids::used_again(free.as_ptr().cast(), size);
                    }
                    (free.cast(), size)
                }
                None => {
                    (self.frame.bump::<OutOfMemory>(size, ALIGN).map_err(|_| AllocError)?, size)
                }
            },
            None => {
                let block = self.frame.bump::<OutOfMemory>(layout.size(), layout.align());
                (block.map_err(|_| AllocError)?, layout.size())
            }
        };
        Ok(NonNull::slice_from_raw_parts(block, size))
    }

    #[inline]
    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        if let Some((class, size)) = class(layout) {
            let free = block.as_ptr().cast::<Free>();
            // SAFETY: the block is ours again, aligned to 16, and has at least 16 bytes.
            unsafe {
                free.write(Free { next: self.free[class].get() });
                aids::waits(block.as_ptr(), size);
            }
            self.free[class].set(free);
        }
    }
}
