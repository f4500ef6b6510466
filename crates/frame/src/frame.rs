//! The handle of one frame: its cursor, its limit, and the bump.

use crate::aids::{self, padded};
use crate::budgets;
use crate::drops::Entry;
use crate::error::{Failure, OutOfMemory};
use crate::guard::FrameGuard;
use crate::located::{self, Here};
use crate::open::Open;
use crate::watch;
use allod_frame_core::chunk::{self, CHUNK_ALIGN, Core, Grown, distance, grow};
use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::hint::assert_unchecked;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};

/// One frame, or a scope within one: allocates values that live for `'f`.
///
/// Obtained from [`Arena::frame`](crate::Arena::frame), [`FrameGuard::frame`] or [`Frame::scope`].
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
    /// The address of the byte before the cursor. Stored as a number, and as the last used byte
    /// rather than the first free one, because then the compiler can track its alignment: after an
    /// allocation its low bits are ones, and the next allocation of that alignment is only an
    /// addition.
    last: Cell<usize>,
    limit: Cell<*mut u8>,
    /// The newest registered drop.
    pub(crate) drops: Cell<*mut Entry>,
    pub(crate) core: NonNull<Core>,
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
        unsafe {
            let Core { cursor, limit, .. } = *core.as_ref();
            debug_assert_eq!(cursor.addr() % CHUNK_ALIGN, 0);
            let frame = Frame::resume(core, cursor, limit, ptr::null_mut());
            // Changes nothing, since chunks are aligned, but tells the compiler so.
            frame.last.set(frame.last.get() | (CHUNK_ALIGN - 1));
            frame
        }
    }

    /// A frame at a position of its arena.
    ///
    /// # Safety
    /// As for [`Frame::start`], and the position and drops are those of a frame of the core.
    #[inline(always)]
    pub(crate) unsafe fn resume(
        core: NonNull<Core>,
        cursor: *mut u8,
        limit: *mut u8,
        drops: *mut Entry,
    ) -> Frame<'f> {
        Frame {
            last: Cell::new(cursor.expose_provenance() - 1),
            limit: Cell::new(limit),
            drops: Cell::new(drops),
            core,
            lifetime: PhantomData,
        }
    }

    /// The bump: `size` bytes at a multiple of `align`, a power of two.
    ///
    /// The size is rounded up to a multiple of the alignment (for a type it is one already), so that
    /// end and start are aligned alike: one addition, and a mask where the compiler does not know how
    /// the cursor is aligned.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub(crate) fn bump<E: Failure>(&self, size: usize, align: usize) -> Result<NonNull<u8>, E> {
        let here = located::here();
        let bytes = padded(size, align);
        watch::asked(self, bytes, here).map_err(E::of)?;
        let block = self.take(size, align, here).inspect_err(|_| watch::failed(self, bytes))?;
        watch::made(bytes, here);
        Ok(block)
    }

    /// The bump, without budgets and counters.
    #[inline(always)]
    pub(crate) fn take<E: Failure>(
        &self,
        size: usize,
        align: usize,
        here: Here,
    ) -> Result<NonNull<u8>, E> {
        let (room, align) = aids::room(size, align);
        let before = self.cursor();
        // Padded sizes of layouts are at most isize::MAX and addresses lie in the lower half, so the
        // sum cannot overflow.
        let mut last = (self.last.get() + room) | (align - 1);
        if last >= self.limit.get().addr() {
            last = self.next_chunk(room, align)?;
        }
        // SAFETY: a block of this alignment and padded size ends at a multiple of the alignment. Said
        // so that the next allocation need not align the cursor again.
        unsafe { assert_unchecked(last & (align - 1) == align - 1) };
        self.last.set(last);
        let block = ptr::with_exposed_provenance_mut(last + 1 - room);
        // SAFETY: a block of this room; blocks lie in chunks, and no chunk at address 0.
        unsafe {
            let block = NonNull::new_unchecked(block);
            aids::made(self.core, before, block, size, room, here);
            Ok(block)
        }
    }

    /// Moves to a chunk with room for the block, and returns the block's last byte.
    #[inline(always)]
    fn next_chunk<E: Failure>(&self, room: usize, align: usize) -> Result<usize, E> {
        // SAFETY: the frame's own core and limit.
        match unsafe { grow(self.core, self.limit.get(), room, align) } {
            Some(Grown { cursor, limit, .. }) => {
                self.limit.set(limit);
                // SAFETY: the memory between is the chunk's and not used yet.
                unsafe { aids::chunk_begun(cursor, limit) };
                Ok(cursor.expose_provenance() - 1)
            }
            None => {
                budgets::memory_is_out();
                Err(E::of(OutOfMemory))
            }
        }
    }

    /// Runs `work` in a scope within this frame: what it allocates is freed when it returns. Scopes
    /// nest.
    ///
    /// Values of this frame stay usable inside; this frame can allocate again after the scope has
    /// ended. Begin and end only cost copying two words.
    ///
    /// ```
    /// let mut arena = allod_frame::Arena::new();
    /// arena.frame(|frame| {
    ///     let kept = frame.alloc(1);
    ///     let before = frame.used();
    ///     frame.scope(|scope| {
    ///         let scratch = scope.alloc_slice_fill(1000, 2);
    ///         *kept += scratch[999];
    ///     });
    ///     assert_eq!((*kept, frame.used()), (3, before));
    /// });
    /// ```
    #[inline]
    pub fn scope<R>(&mut self, work: impl for<'s> FnOnce(&'s mut Open<'s, 'f>) -> R) -> R {
        let mut guard = self.nested();
        // SAFETY: the scope's lifetime is the closure's own, so it cannot be exchanged for another.
        work(unsafe { guard.frame_mut() })
    }

    /// Runs `work` and keeps what it allocated if it returns `Ok`; after `Err` all of it is freed.
    ///
    /// This is the checkpoint for speculation: try something, keep it if it worked.
    ///
    /// # Errors
    /// What `work` returns.
    ///
    /// ```
    /// let mut arena = allod_frame::Arena::new();
    /// arena.frame(|frame| {
    ///     let before = frame.used();
    ///     let failed: Result<&mut [u8], &str> = frame.speculate(|f| {
    ///         f.alloc_slice_fill(5000, 0u8);
    ///         Err("no way through")
    ///     });
    ///     assert_eq!((failed, frame.used()), (Err("no way through"), before));
    ///
    ///     let path = frame.speculate(|f| Ok::<_, ()>(f.alloc_slice_copy(&[3, 1, 2]))).unwrap();
    ///     assert_eq!(path, &[3, 1, 2]);
    /// });
    /// ```
    #[inline]
    pub fn speculate<T: ?Sized, E>(
        &mut self,
        work: impl for<'s> FnOnce(&'s mut Open<'s, 'f>) -> Result<&'s mut T, E>,
    ) -> Result<&'f mut T, E> {
        let mut guard = self.nested();
        // SAFETY: as in `scope`.
        let value: NonNull<T> = work(unsafe { guard.frame_mut() })?.into();
        let (position, drops) = guard.keep();
        self.set_position(position);
        if !drops.is_null() {
            // SAFETY: entries of a scope of this frame, newer than all of its own.
            unsafe { Entry::append(drops, self.drops.get()) };
            self.drops.set(drops);
        }
        // SAFETY: the value lies in memory that is this frame's now.
        Ok(unsafe { &mut *value.as_ptr() })
    }

    /// The guard of a scope within this frame.
    #[inline(always)]
    pub(crate) fn nested(&mut self) -> FrameGuard<'_> {
        // SAFETY: this frame is borrowed exclusively as long as the guard is there.
        unsafe {
            let (cursor, limit) = self.position();
            let scope = Frame::resume(self.core, cursor, limit, ptr::null_mut());
            FrameGuard::new(scope)
        }
    }

    /// Bytes used in the arena up to here, including outer frames, padding and skipped ends of
    /// chunks.
    #[must_use]
    pub fn used(&self) -> usize {
        // SAFETY: both positions are of this arena, which starts where the core says.
        unsafe {
            let core = self.core.as_ref();
            if self.limit.get() == chunk::empty() {
                return 0;
            }
            distance(self.core, (core.cursor, core.limit), self.position())
        }
    }

    /// Cursor and limit.
    #[inline(always)]
    pub(crate) fn position(&self) -> aids::Position {
        (self.cursor(), self.limit.get())
    }

    /// Sets cursor and limit, which are of one chunk of the frame's arena.
    #[inline(always)]
    pub(crate) fn set_position(&self, (cursor, limit): aids::Position) {
        self.set_cursor(cursor);
        self.limit.set(limit);
    }

    /// The next free byte.
    #[inline(always)]
    fn cursor(&self) -> *mut u8 {
        ptr::with_exposed_provenance_mut(self.last.get() + 1)
    }

    #[inline(always)]
    fn set_cursor(&self, cursor: *mut u8) {
        self.last.set(cursor.expose_provenance() - 1);
    }

    /// True when `block` of the given layout is the newest allocation.
    #[inline(always)]
    pub(crate) fn is_newest(&self, block: *const u8, layout: Layout) -> bool {
        ptr::eq(block.wrapping_add(aids::room(layout.size(), layout.align()).0), self.cursor())
    }

    /// Changes the newest block's layout in place; false if the chunk has no room. The block's
    /// address must suit the layout's alignment.
    ///
    /// # Safety
    /// `block` is the newest allocation, of the layout `old`.
    #[inline(always)]
    pub(crate) unsafe fn resize_newest(&self, block: *mut u8, old: Layout, new: Layout) -> bool {
        let (room, _) = aids::room(new.size(), new.align());
        if room > self.limit.get().addr() - block.addr() {
            return false;
        }
        let (before, after) = (padded(old.size(), old.align()), padded(new.size(), new.align()));
        if !watch::resized(self, before, after) {
            return false;
        }
        // SAFETY: the caller's contract, and there is room.
        unsafe { aids::resized(self.cursor(), block, new, room) };
        self.set_cursor(block.wrapping_add(room));
        true
    }

    /// Gives the newest block back.
    ///
    /// # Safety
    /// `block` is the newest allocation, of this layout, and not used any more.
    #[cfg(feature = "allocator-api2")]
    #[inline(always)]
    pub(crate) unsafe fn free_newest(&self, block: *mut u8, layout: Layout) {
        watch::resized(self, padded(layout.size(), layout.align()), 0);
        // SAFETY: the caller's contract.
        self.set_cursor(unsafe { aids::freed(self.cursor(), block) });
    }
}

impl fmt::Debug for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame").field("used", &self.used()).finish()
    }
}
