//! A task's arena, shared by its owner and its handles.

use super::count::Count;
use crate::arena::Arena;
use crate::error::OutOfMemory;
use crate::frame::Frame;
use crate::guard::FrameGuard;
use allod_frame_core::chunk::CHUNK_ALIGN;
use allod_heap::span::{self, Kind};
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, Ordering};

/// Bytes of the first chunk, with its header. Small tasks need no other, so a hundred thousand of them
/// cost 2 KiB each and not the two pages that a span's first use touches.
const FIRST: usize = 2048 - 128;

/// The first chunk, which lies in the arena's own block.
#[repr(C, align(64))]
struct First(MaybeUninit<[u8; FIRST]>);

const _: () = assert!(align_of::<First>() == CHUNK_ALIGN && FIRST.is_multiple_of(CHUNK_ALIGN));

/// One arena with its open frame. Lives until its last handle is gone, then waits in the list of idle
/// arenas.
pub(super) struct Shared {
    pub(super) count: Count,
    /// A handle took heap memory while the arena was not open, so from now on blocks are
    /// distinguished.
    strayed: AtomicBool,
    /// The task's frame; none among the idle. Touched where the arena is open, or by the last one.
    frame: UnsafeCell<Option<FrameGuard<'static>>>,
    /// The chunks under the frame; reached only when the frame has ended.
    arena: UnsafeCell<Arena>,
    first: UnsafeCell<First>,
}

impl Shared {
    /// Opens the frame of an idle arena.
    ///
    /// # Safety
    /// The arena is idle and the caller's alone.
    pub(super) unsafe fn begin(shared: NonNull<Shared>) {
        let place = shared.as_ptr();
        // SAFETY: the caller's contract; the arena stays where it is and unused as long as its frame is
        // open. The whole is not borrowed, for the arena keeps pointers into `first`.
        unsafe {
            (&raw mut (*place).count).write(Count::new());
            (&raw mut (*place).strayed).write(AtomicBool::new(false));
            let arena: &'static mut Arena = &mut *(*place).arena.get();
            (*place).frame.get().write(Some(arena.begin_travelling()));
        }
    }

    /// Ends the frame: registered values are dropped.
    ///
    /// # Safety
    /// The arena is open, and neither owner nor handles are left.
    pub(super) unsafe fn end(shared: NonNull<Shared>) {
        // SAFETY: the caller's contract: nobody else reaches the frame.
        let frame = unsafe { (*shared.as_ref().frame.get()).take() };
        drop(frame);
    }

    /// A new arena, idle.
    pub(super) fn new() -> Result<NonNull<Shared>, OutOfMemory> {
        let block = allod_heap::aligned_alloc(align_of::<Shared>(), size_of::<Shared>());
        let place = NonNull::new(block).ok_or(OutOfMemory)?.cast::<Shared>();
        // SAFETY: the block has room for all fields, and `first` is the arena's alone until it is
        // destroyed with the block.
        unsafe {
            let first = (&raw mut (*place.as_ptr()).first).cast::<u8>();
            let arena = Arena::try_new_on(first, FIRST).inspect_err(|_| allod_heap::free(block))?;
            (&raw mut (*place.as_ptr()).count).write(Count::new());
            (&raw mut (*place.as_ptr()).strayed).write(AtomicBool::new(false));
            (&raw mut (*place.as_ptr()).frame).write(UnsafeCell::new(None));
            (&raw mut (*place.as_ptr()).arena).write(UnsafeCell::new(arena));
        }
        Ok(place)
    }

    /// The task's frame.
    ///
    /// # Safety
    /// The arena is open on the calling thread as long as the reference is used.
    #[inline(always)]
    pub(super) unsafe fn frame(&self) -> &Frame<'_> {
        // SAFETY: the caller's contract; a frame is there from `open` to `end`.
        unsafe { (*self.frame.get()).as_ref().unwrap_unchecked().frame() }
    }

    /// Gives the chunks of an idle arena back if they are more than `keep` bytes.
    ///
    /// # Safety
    /// The arena is idle and the caller's alone.
    pub(super) unsafe fn trim_above(shared: NonNull<Shared>, keep: usize) {
        // SAFETY: the caller's contract: no frame is open.
        let arena = unsafe { &mut *shared.as_ref().arena.get() };
        if arena.reserved() > keep {
            arena.trim();
        }
    }

    /// Frees an idle arena.
    ///
    /// # Safety
    /// The arena is idle and the caller's alone; it is not used again.
    pub(super) unsafe fn free(shared: NonNull<Shared>) {
        // SAFETY: the caller's contract: made by `new`, and no frame is open. The arena goes first, for
        // its first chunk lies in the block.
        unsafe {
            ptr::drop_in_place((*shared.as_ptr()).arena.get());
            allod_heap::free(shared.as_ptr().cast());
        }
    }

    /// Records that a block came from the heap.
    pub(super) fn stray(&self) {
        // The hand-over of the block's address orders its receivers after this.
        self.strayed.store(true, Ordering::Relaxed);
    }

    /// True if a handle's block came from the heap.
    #[inline]
    pub(super) fn is_stray(&self, block: NonNull<u8>) -> bool {
        self.strayed.load(Ordering::Relaxed) && !self.is_own(block)
    }

    #[cold]
    fn is_own(&self, block: NonNull<u8>) -> bool {
        let first = self.first.get().addr();
        (first..first + FIRST).contains(&block.addr().get())
            || !span::owner(block.as_ptr(), Kind::Frame).is_null()
    }
}
