//! A task's arena as its owner and its handles see it.

use super::count::Count;
use super::idle;
use crate::arena::Arena;
use crate::error::OutOfMemory;
use crate::frame::Frame;
use crate::guard::FrameGuard;
use core::cell::UnsafeCell;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, Ordering};
use std::boxed::Box;

/// One arena with its open frame. Lives until its last handle is gone, then waits among the idle.
pub(super) struct Shared {
    pub(super) count: Count,
    /// A handle took heap memory where the arena was not open, so blocks are told apart from now on.
    pub(super) strayed: AtomicBool,
    /// The task's frame; none among the idle. Touched where the arena is open, or by the last one.
    frame: UnsafeCell<Option<FrameGuard<'static>>>,
    /// The chunks under the frame; reached only when the frame has ended.
    arena: UnsafeCell<Arena>,
}

impl Shared {
    /// An idle arena with an open frame, or a new one.
    pub(super) fn open() -> Result<NonNull<Shared>, OutOfMemory> {
        let shared = match idle::take() {
            Some(mut shared) => {
                // SAFETY: taken out of the idle, so ours alone.
                let idle = unsafe { shared.as_mut() };
                idle.count = Count::new();
                idle.strayed = AtomicBool::new(false);
                shared
            }
            None => NonNull::from(Box::leak(Box::new(Shared {
                count: Count::new(),
                strayed: AtomicBool::new(false),
                frame: UnsafeCell::new(None),
                arena: UnsafeCell::new(Arena::try_new()?),
            }))),
        };
        // SAFETY: ours alone; the arena stays where it is and unused as long as its frame is open.
        unsafe {
            let arena: &'static mut Arena = &mut *shared.as_ref().arena.get();
            *shared.as_ref().frame.get() = Some(arena.begin_travelling());
        }
        Ok(shared)
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

    /// Ends the frame: registered values are dropped and the arena goes to the idle.
    ///
    /// # Safety
    /// Neither owner nor handles are left.
    #[cold]
    pub(super) unsafe fn end(shared: NonNull<Shared>) {
        /// Also when a registered drop panics.
        struct PutBack(NonNull<Shared>);
        impl Drop for PutBack {
            fn drop(&mut self) {
                idle::put(self.0);
            }
        }
        let back = PutBack(shared);
        // SAFETY: the caller's contract: nobody else reaches the frame.
        let frame = unsafe { (*back.0.as_ref().frame.get()).take() };
        drop(frame);
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
        // SAFETY: made by `Box` in `open`.
        drop(unsafe { Box::from_raw(shared.as_ptr()) });
    }

    /// One handle less.
    ///
    /// # Safety
    /// The caller gives its handle up; `open_here` says whether the arena is open on this thread.
    #[inline]
    pub(super) unsafe fn release(shared: NonNull<Shared>, open_here: bool) {
        // SAFETY: the handle kept the arena until now; without owner and handles nobody uses it.
        unsafe {
            if open_here {
                shared.as_ref().count.change_here(-1);
            } else if shared.as_ref().count.sub() {
                Shared::end(shared);
            }
        }
    }

    /// Remembers that a block came from the heap.
    pub(super) fn stray(&self) {
        // Whoever gets the block's address is ordered behind this by however it was handed over.
        self.strayed.store(true, Ordering::Relaxed);
    }
}
