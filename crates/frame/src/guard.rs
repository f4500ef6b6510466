//! Begin and end of a frame; checkpoints and rollback.

use crate::aids::{self, Start};
use crate::budgets::{self, Charged};
use crate::drops::{self, Entry};
use crate::frame::Frame;
use crate::located::Here;
use crate::open::Open;
use crate::watch::Watched;
use allod_frame_core::chunk::not_behind;
use core::marker::PhantomData;

/// A frame that is open until the guard is dropped.
///
/// [`frame`](FrameGuard::frame) returns the frame to allocate in; its values live until the guard is
/// dropped or [rolled back](FrameGuard::rollback).
///
/// ```
/// use allod_frame::Arena;
/// let mut arena = Arena::new();
/// let guard = arena.begin();
/// let frame = guard.frame();
/// let x = frame.alloc(5);
/// *x += 1;
/// assert_eq!(*x, 6);
/// guard.end();
/// ```
///
/// ```compile_fail
/// let mut arena = allod_frame::Arena::new();
/// let guard = arena.begin();
/// let x = guard.frame().alloc(5);
/// guard.end();
/// *x += 1; // does not compile: the frame has ended
/// ```
pub struct FrameGuard<'a> {
    frame: Frame<'a>,
    start: Start,
    watched: Watched,
    arena: PhantomData<&'a mut ()>,
}

/// A position in a frame, for [`FrameGuard::rollback`].
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint {
    cursor: *mut u8,
    limit: *mut u8,
    drops: u64,
    charged: Charged,
    arena: u64,
    frame: u64,
}

impl<'a> FrameGuard<'a> {
    /// The guard of a scope.
    #[inline(always)]
    pub(crate) fn new(frame: Frame<'a>) -> FrameGuard<'a> {
        FrameGuard::watched(frame, Watched::scope())
    }

    /// The guard of a frame, begun `here`.
    #[inline(always)]
    pub(crate) fn begin(frame: Frame<'a>, here: Here) -> FrameGuard<'a> {
        FrameGuard::watched(frame, Watched::begin(here))
    }

    #[inline(always)]
    fn watched(frame: Frame<'a>, watched: Watched) -> FrameGuard<'a> {
        FrameGuard { start: Start::at(frame.raw.position()), frame, watched, arena: PhantomData }
    }

    /// The frame to allocate in.
    #[inline(always)]
    pub fn frame<'g>(&'g self) -> &'g Frame<'g> {
        // SAFETY: only the lifetime changes: values live as long as the guard is borrowed, and both
        // `end` and `rollback` need it unborrowed. A shared reference cannot be exchanged.
        unsafe { &*(&raw const self.frame).cast::<Frame<'g>>() }
    }

    /// The frame with a lifetime of the caller's choice, for closures.
    ///
    /// # Safety
    /// The lifetime ends before the guard does, and the frame is not exchanged for another.
    #[inline(always)]
    pub(crate) unsafe fn frame_mut<'s, 'env: 's>(&mut self) -> &'s mut Open<'s, 'env> {
        // SAFETY: only lifetimes change, `Open` has the layout of its frame; the caller's contract.
        unsafe { &mut *(&raw mut self.frame).cast::<Open<'s, 'env>>() }
    }

    /// Position and drops of the frame, whose end does not happen.
    #[inline(always)]
    pub(crate) fn keep(self) -> (aids::Position, *mut Entry) {
        let mut guard = core::mem::ManuallyDrop::new(self);
        let FrameGuard { frame, watched, start, .. } = &mut *guard;
        watched.end(&frame.raw);
        // SAFETY: the frame ends where it started or later.
        start.then(|start| unsafe { aids::kept(frame.raw.core, start, frame.raw.position()) });
        (frame.raw.position(), frame.raw.drops.get())
    }

    /// Ends the frame, as dropping the guard does.
    #[inline(always)]
    pub fn end(self) {}

    /// The frame's current position.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        let (cursor, limit) = self.frame.raw.position();
        // SAFETY: the frame's core and entries are live.
        unsafe {
            Checkpoint {
                cursor,
                limit,
                drops: Entry::stamp(self.frame.raw.drops.get()),
                charged: budgets::charged(self.frame.raw.drops.get()),
                arena: self.frame.raw.core.as_ref().number,
                frame: self.frame.raw.core.as_ref().frames,
            }
        }
    }

    /// Undoes every allocation since the checkpoint; registered values are dropped, newest first. A
    /// checkpoint that was itself undone undoes everything that is after its position now.
    ///
    /// # Panics
    /// When the checkpoint is of another frame.
    ///
    /// ```
    /// let mut arena = allod_frame::Arena::new();
    /// let mut guard = arena.begin();
    /// let before = guard.checkpoint();
    /// for attempt in 0..10 {
    ///     guard.frame().alloc_slice_fill(1000, attempt);
    ///     guard.rollback(before);
    /// }
    /// assert_eq!(guard.frame().used(), 0);
    /// ```
    pub fn rollback(&mut self, to: Checkpoint) {
        let frame = &self.frame;
        // SAFETY: the core is live while the guard is.
        let core = unsafe { frame.raw.core.as_ref() };
        assert!(
            to.arena == core.number && to.frame == core.frames,
            "the checkpoint is of another frame: roll back with the guard that made it"
        );
        let position = frame.raw.position();
        // SAFETY: both positions and the entries are of this frame, and nothing newer is borrowed.
        let position = unsafe {
            if !not_behind(frame.raw.core, (to.cursor, to.limit), position) {
                return;
            }
            // Values leave the frame before they are dropped, because a drop may panic.
            let newest = frame.raw.drops.replace(drops::down_to(frame.raw.drops.get(), to.drops));
            drops::run(newest, to.drops);
            budgets::restore(frame.raw.drops.get(), to.drops, to.charged);
            aids::ended(frame.raw.core, (to.cursor, to.limit), position)
        };
        frame.raw.set_position(position);
    }
}

impl Drop for FrameGuard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.watched.end(&self.frame.raw);
        let drops = self.frame.raw.drops.get();
        if !drops.is_null() {
            // SAFETY: the frame ends, and with it every use of its values.
            unsafe { drops::run(drops, 0) };
        }
        let FrameGuard { frame, start, .. } = self;
        start.then(|start| {
            // SAFETY: the frame ends where it started or later, and with it every use of its memory.
            unsafe { aids::ended(frame.raw.core, start, frame.raw.position()) };
        });
    }
}
