//! A frame without its lifetime: its cursor, its limit, its registered drops, and the bump.

use crate::aids::{self, padded};
use crate::drops::Entry;
use crate::located::Here;
use allod_frame_core::chunk::{self, CHUNK_ALIGN, Core, Grown, distance, grow};
use core::alloc::Layout;
use core::cell::Cell;
use core::hint::assert_unchecked;
use core::ptr::{self, NonNull};

/// Where a frame stands in its arena. Blocks are not charged to budgets or counted here.
pub(crate) struct RawFrame {
    /// The address of the byte before the cursor. Stored as a number, and as the last used byte
    /// rather than the first free one, because then the compiler can track its alignment: after an
    /// allocation its low bits are ones, and the next allocation of that alignment is only an
    /// addition.
    last: Cell<usize>,
    limit: Cell<*mut u8>,
    /// The newest registered drop.
    pub(crate) drops: Cell<*mut Entry>,
    pub(crate) core: NonNull<Core>,
}

impl RawFrame {
    /// The start of an arena.
    ///
    /// # Safety
    /// The core is live and used by this frame alone.
    #[inline(always)]
    pub(crate) unsafe fn start(core: NonNull<Core>) -> RawFrame {
        // SAFETY: the caller's contract.
        unsafe {
            let Core { cursor, limit, .. } = *core.as_ref();
            debug_assert_eq!(cursor.addr() % CHUNK_ALIGN, 0);
            let frame = RawFrame::resume(core, (cursor, limit), ptr::null_mut());
            // Changes nothing, since chunks are aligned, but tells the compiler so.
            frame.last.set(frame.last.get() | (CHUNK_ALIGN - 1));
            frame
        }
    }

    /// A position of an arena.
    ///
    /// # Safety
    /// As for [`RawFrame::start`], and the position and drops are those of a frame of the core.
    #[inline(always)]
    pub(crate) unsafe fn resume(
        core: NonNull<Core>,
        (cursor, limit): aids::Position,
        drops: *mut Entry,
    ) -> RawFrame {
        RawFrame {
            last: Cell::new(cursor.expose_provenance() - 1),
            limit: Cell::new(limit),
            drops: Cell::new(drops),
            core,
        }
    }

    /// The bump: `size` bytes at a multiple of `align`, a power of two; nothing if memory is out.
    ///
    /// The size is rounded up to a multiple of the alignment (for a type it is one already), so that
    /// end and start are aligned alike: one addition, and a mask where the compiler does not know how
    /// the cursor is aligned.
    #[inline(always)]
    pub(crate) fn take(&self, size: usize, align: usize, here: Here) -> Option<NonNull<u8>> {
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
            Some(block)
        }
    }

    /// Moves to a chunk with room for the block, and returns the block's last byte.
    #[inline(always)]
    fn next_chunk(&self, room: usize, align: usize) -> Option<usize> {
        // SAFETY: the frame's own core and limit.
        let Grown { cursor, limit, .. } =
            unsafe { grow(self.core, self.limit.get(), room, align) }?;
        self.limit.set(limit);
        // SAFETY: the memory between is the chunk's and not used yet.
        unsafe { aids::chunk_begun(cursor, limit) };
        Some(cursor.expose_provenance() - 1)
    }

    /// Makes an entry, from a stamp and the entry before it, the newest registered drop.
    pub(crate) fn enter(&self, room: NonNull<Entry>, make: impl FnOnce(u64, *mut Entry) -> Entry) {
        // SAFETY: the core is live, and only this frame uses it now; the room is the frame's and new.
        unsafe {
            let drops = &raw mut (*self.core.as_ptr()).drops;
            *drops += 1;
            room.write(make(*drops, self.drops.get()));
        }
        self.drops.set(room.as_ptr());
    }

    /// Bytes used in the arena up to here, including outer frames, padding and skipped ends of
    /// chunks.
    pub(crate) fn used(&self) -> usize {
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

    /// True if the chunk has room for the newest block to become one of this layout in place.
    #[inline(always)]
    pub(crate) fn has_room(&self, block: *const u8, layout: Layout) -> bool {
        aids::room(layout.size(), layout.align()).0 <= self.limit.get().addr() - block.addr()
    }

    /// Changes the newest block's layout in place.
    ///
    /// # Safety
    /// `block` is the newest allocation, its address suits the layout's alignment, and
    /// [`has_room`](RawFrame::has_room) is true.
    #[inline(always)]
    pub(crate) unsafe fn resize_newest(&self, block: *mut u8, layout: Layout) {
        let (room, _) = aids::room(layout.size(), layout.align());
        debug_assert_eq!(padded(block.addr(), layout.align()), block.addr());
        // SAFETY: the caller's contract.
        unsafe { aids::resized(self.cursor(), block, layout, room) };
        self.set_cursor(block.wrapping_add(room));
    }

    /// Gives the newest block back.
    ///
    /// # Safety
    /// `block` is the newest allocation and not used any more.
    #[cfg(feature = "allocator-api2")]
    #[inline(always)]
    pub(crate) unsafe fn free_newest(&self, block: *mut u8) {
        // SAFETY: the caller's contract.
        self.set_cursor(unsafe { aids::freed(self.cursor(), block) });
    }
}
