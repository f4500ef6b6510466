//! The handle of one frame: allocation with what the features add to it.

use crate::aids::{self, padded};
use crate::budgets;
use crate::drops::Entry;
use crate::error::{Failure, OutOfMemory};
use crate::located;
use crate::raw::RawFrame;
use crate::watch;
use allod_frame_core::chunk::Core;
use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

/// One frame, or a scope within one: allocates values that live for `'f`.
///
/// Obtained from [`Arena::frame`](crate::Arena::frame), [`FrameGuard::frame`](crate::FrameGuard::frame) or [`Frame::scope`].
/// All allocating methods take `&self`, so many values can be made and used together; each is
/// aligned as its type requires. The fast path is one comparison; when a chunk is full, the next
/// kept one follows.
///
/// A frame stays on its thread (neither `Send` nor `Sync`); what it allocates may go where its type
/// may go, as long as the frame lasts.
///
/// Methods that allocate panic when memory is out, and have a `try_` twin that returns
/// [`OutOfMemory`] instead.
pub struct Frame<'f> {
    pub(crate) raw: RawFrame,
    /// Invariant in `'f`, so that two frames cannot be exchanged for each other.
    lifetime: PhantomData<fn(&'f ()) -> &'f ()>,
}

impl<'f> Frame<'f> {
    /// The frame at the start of an arena.
    ///
    /// # Safety
    /// The core is live and used by this frame alone for `'f`.
    #[inline(always)]
    pub(crate) unsafe fn start(core: NonNull<Core>) -> Frame<'f> {
        // SAFETY: the caller's contract.
        Frame { raw: unsafe { RawFrame::start(core) }, lifetime: PhantomData }
    }

    /// A frame at a position of its arena.
    ///
    /// # Safety
    /// As for [`Frame::start`], and the position and drops are those of a frame of the core.
    #[inline(always)]
    pub(crate) unsafe fn resume(
        core: NonNull<Core>,
        position: aids::Position,
        drops: *mut Entry,
    ) -> Frame<'f> {
        // SAFETY: the caller's contract.
        Frame { raw: unsafe { RawFrame::resume(core, position, drops) }, lifetime: PhantomData }
    }

    /// A block of `size` bytes at a multiple of `align`, a power of two, unless a budget refuses it or
    /// memory is out.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub(crate) fn bump<E: Failure>(&self, size: usize, align: usize) -> Result<NonNull<u8>, E> {
        let here = located::here();
        let bytes = padded(size, align);
        watch::asked(&self.raw, bytes, here).map_err(E::of)?;
        let Some(block) = self.raw.take(size, align, here) else {
            watch::failed(&self.raw, bytes);
            budgets::memory_is_out();
            return Err(E::of(OutOfMemory));
        };
        watch::made(bytes, here);
        Ok(block)
    }

    /// Bytes used in the arena up to here, including outer frames, padding and skipped ends of
    /// chunks.
    #[must_use]
    pub fn used(&self) -> usize {
        self.raw.used()
    }

    /// Changes the newest block's layout in place; false if the chunk has no room, or a budget requires a
    /// new allocation. The block's address must suit the layout's alignment.
    ///
    /// # Safety
    /// `block` is the newest allocation, of the layout `old`.
    #[inline(always)]
    pub(crate) unsafe fn resize_newest(&self, block: *mut u8, old: Layout, new: Layout) -> bool {
        let (before, after) = (padded(old.size(), old.align()), padded(new.size(), new.align()));
        if !self.raw.has_room(block, new) || !watch::resized(&self.raw, before, after) {
            return false;
        }
        // SAFETY: the caller's contract, and there is room.
        unsafe { self.raw.resize_newest(block, new) };
        true
    }

    /// Gives the newest block back.
    ///
    /// # Safety
    /// `block` is the newest allocation, of this layout, and not used any more.
    #[cfg(feature = "allocator-api2")]
    #[inline(always)]
    pub(crate) unsafe fn free_newest(&self, block: *mut u8, layout: Layout) {
        watch::resized(&self.raw, padded(layout.size(), layout.align()), 0);
        // SAFETY: the caller's contract.
        unsafe { self.raw.free_newest(block) };
    }
}

impl fmt::Debug for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame").field("used", &self.used()).finish()
    }
}
