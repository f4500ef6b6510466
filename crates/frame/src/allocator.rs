//! `Allocator` for frames: collections that live in them.

use crate::aids;
use crate::error::OutOfMemory;
use crate::frame::Frame;
use crate::open::Open;
use crate::owned::OwnedFrame;
use allocator_api2::alloc::{AllocError, Allocator};
use core::alloc::Layout;
use core::ptr::{self, NonNull};

/// Collections in a frame: `Vec::new_in(&*frame)`, `HashMap::new_in(&*frame)`.
///
/// The newest block grows and shrinks in place and is reused when it is freed; any other block is
/// copied when it grows and stays until the frame's end.
///
/// ```
/// use allocator_api2::{boxed::Box, vec::Vec};
/// let mut arena = allod_frame::Arena::new();
/// arena.frame(|f| {
///     let mut numbers = Vec::new_in(&*f);
///     numbers.push(0);
///     let place = numbers.as_ptr();
///     numbers.extend(1..1000);
///     assert_eq!(numbers.as_ptr(), place, "the newest vector grows in place");
///     let dropped_at_its_end = Box::new_in(String::from("boxed"), &*f);
///     assert_eq!(*dropped_at_its_end, "boxed");
/// });
/// ```
// SAFETY: blocks are disjoint and stay where they are until the frame ends, which a reference to it
// prevents; clones of the reference are the same allocator.
unsafe impl Allocator for &Frame<'_> {
    #[inline(always)]
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let block =
            self.bump::<OutOfMemory>(layout.size(), layout.align()).map_err(|_| AllocError)?;
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    #[inline(always)]
    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        if self.raw.is_newest(block.as_ptr(), layout) {
            // SAFETY: the newest block, which the caller gives back.
            unsafe { self.free_newest(block.as_ptr(), layout) };
        }
    }

    #[inline]
    unsafe fn grow(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the caller's contract: a block of the old layout.
        unsafe { resize(self, block, old, new) }
    }

    #[inline]
    unsafe fn grow_zeroed(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: as for `grow`; the new block has room for the zeros behind the old content.
        unsafe {
            let grown = resize(self, block, old, new)?;
            zero_new_part(grown, old, new);
            Ok(grown)
        }
    }

    #[inline]
    unsafe fn shrink(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the caller's contract: a block of the old layout.
        unsafe { resize(self, block, old, new) }
    }
}

/// Implements `Allocator` by passing everything on to another allocator, through the trait `$inner`;
/// `Allocator` and `AllocError` are those of the module that uses it.
macro_rules! passed_on {
    ($inner:path; $($(#[$doc:meta])* $allocator:ty: |$this:ident| $to:expr),* $(,)?) => {
        $(
            $(#[$doc])*
            // SAFETY: the other's promises are this one's: clones lead to the same allocator.
            unsafe impl Allocator for $allocator {
                #[inline(always)]
                fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
                    let $this = self;
                    <_ as $inner>::allocate($to, layout).map_err(|_| AllocError)
                }

                #[inline(always)]
                unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
                    let $this = self;
                    // SAFETY: the caller's contract.
                    unsafe { <_ as $inner>::deallocate($to, block, layout) }
                }

                #[inline]
                unsafe fn grow(
                    &self,
                    block: NonNull<u8>,
                    old: Layout,
                    new: Layout,
                ) -> Result<NonNull<[u8]>, AllocError> {
                    let $this = self;
                    // SAFETY: the caller's contract.
                    unsafe { <_ as $inner>::grow($to, block, old, new) }.map_err(|_| AllocError)
                }

                #[inline]
                unsafe fn grow_zeroed(
                    &self,
                    block: NonNull<u8>,
                    old: Layout,
                    new: Layout,
                ) -> Result<NonNull<[u8]>, AllocError> {
                    let $this = self;
                    // SAFETY: the caller's contract.
                    unsafe { <_ as $inner>::grow_zeroed($to, block, old, new) }
                        .map_err(|_| AllocError)
                }

                #[inline]
                unsafe fn shrink(
                    &self,
                    block: NonNull<u8>,
                    old: Layout,
                    new: Layout,
                ) -> Result<NonNull<[u8]>, AllocError> {
                    let $this = self;
                    // SAFETY: the caller's contract.
                    unsafe { <_ as $inner>::shrink($to, block, old, new) }.map_err(|_| AllocError)
                }
            }
        )*
    };
}
#[cfg(feature = "nightly")]
pub(crate) use passed_on;

passed_on!(Allocator;
    /// As [`Frame`]'s.
    &Open<'_, '_>: |open| &&***open,
    /// As [`Frame`]'s.
    &OwnedFrame: |owned| &owned.frame(),
);

/// Zeroes the bytes that a block gained when it grew from one layout to another.
///
/// # Safety
/// The block has room for the new layout, which is not smaller than the old one.
#[inline]
pub(crate) unsafe fn zero_new_part(grown: NonNull<[u8]>, old: Layout, new: Layout) {
    // SAFETY: the caller's contract.
    unsafe { grown.cast::<u8>().add(old.size()).write_bytes(0, new.size() - old.size()) }
}

/// True when the room of a block with the layout `old` is enough for one with the layout `new`.
#[inline(always)]
fn has_room(old: Layout, new: Layout) -> bool {
    aids::room(new.size(), new.align()).0 <= aids::room(old.size(), old.align()).0
}

/// Resizes a block in place when it is the newest or shrinks within its room, and moves it otherwise.
///
/// # Safety
/// `block` is a block of `frame` with the layout `old`.
#[inline]
unsafe fn resize(
    frame: &Frame<'_>,
    block: NonNull<u8>,
    old: Layout,
    new: Layout,
) -> Result<NonNull<[u8]>, AllocError> {
    let aligned = block.as_ptr().addr() & (new.align() - 1) == 0;
    // SAFETY: the caller's contract; the copy goes to a new block.
    unsafe {
        let newest = frame.raw.is_newest(block.as_ptr(), old);
        let in_place = aligned
            && if newest {
                frame.resize_newest(block.as_ptr(), old, new)
            } else {
                // A larger alignment may need more room than there is before the next block.
                new.size() <= old.size() && has_room(old, new)
            };
        if in_place {
            return Ok(NonNull::slice_from_raw_parts(block, new.size()));
        }
        let moved = frame.bump::<OutOfMemory>(new.size(), new.align()).map_err(|_| AllocError)?;
        let bytes = old.size().min(new.size());
        ptr::copy_nonoverlapping(block.as_ptr(), moved.as_ptr(), bytes);
        Ok(NonNull::slice_from_raw_parts(moved, new.size()))
    }
}
