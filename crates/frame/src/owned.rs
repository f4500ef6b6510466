//! A frame that owns its arena, for values that carry their memory with them.

use crate::arena::Arena;
use crate::error::{OutOfMemory, or_panic};
use crate::frame::Frame;
use crate::guard::{Checkpoint, FrameGuard};
use core::fmt;

/// An open frame together with its arena: what a struct holds that owns the memory of its parts, such
/// as a document and its nodes.
///
/// Where the arena can live outside, prefer [`Arena::begin`]: an arena that stays keeps its chunks
/// for the next frame. [`end`](OwnedFrame::end) and [`reset`](OwnedFrame::reset) keep them, too.
///
/// `&OwnedFrame` is an allocator for collections, as `&Frame` is. A type that holds it, unlike one that
/// holds `&Frame`, is covariant in its lifetime, so it may be borrowed for shorter than it lives.
///
/// ```
/// use allocator_api2::vec::Vec;
/// use allod_frame::OwnedFrame;
///
/// struct Document {
///     memory: OwnedFrame,
/// }
///
/// impl Document {
///     fn words(&self, text: &str) -> Vec<&str, &OwnedFrame> {
///         let mut words = Vec::new_in(&self.memory);
///         words.extend(text.split(' ').map(|word| &*self.memory.frame().alloc_str(word)));
///         words
///     }
/// }
///
/// let document = Document { memory: OwnedFrame::new() };
/// assert_eq!(document.words("a rose").len(), 2);
/// assert_eq!(document.memory.end().frames(), 1);
/// ```
///
/// It stays on its thread, as every frame does. What may go to another is the arena that
/// [`end`](OwnedFrame::end) returns.
///
/// ```compile_fail
/// let memory = allod_frame::OwnedFrame::new();
/// std::thread::spawn(move || drop(memory)); // does not compile: the frame is this thread's
/// ```
pub struct OwnedFrame {
    /// Ends before the arena does: fields are dropped in this order.
    guard: FrameGuard<'static>,
    start: Checkpoint,
    arena: Arena,
}

impl OwnedFrame {
    /// A frame with an arena of its own, which has no memory yet.
    ///
    /// # Panics
    /// When memory is out; see [`try_new`](OwnedFrame::try_new).
    #[must_use]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn new() -> OwnedFrame {
        or_panic(OwnedFrame::try_new())
    }

    /// A frame with an arena of its own.
    ///
    /// # Errors
    /// When memory is out.
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_new() -> Result<OwnedFrame, OutOfMemory> {
        Arena::try_new().map(Arena::into_frame)
    }

    /// The frame to allocate in.
    #[inline(always)]
    pub fn frame(&self) -> &Frame<'_> {
        self.guard.frame()
    }

    /// Gives up everything in the frame and starts it anew, with the chunks it has.
    ///
    /// ```
    /// let mut memory = allod_frame::OwnedFrame::new();
    /// let first = memory.frame().alloc(1u32) as *const u32;
    /// memory.reset();
    /// assert_eq!(memory.frame().alloc(2u32) as *const u32, first, "the same place again");
    /// ```
    ///
    /// ```compile_fail
    /// let mut memory = allod_frame::OwnedFrame::new();
    /// let value = memory.frame().alloc(1);
    /// memory.reset();
    /// *value += 1; // does not compile: its frame was reset
    /// ```
    pub fn reset(&mut self) {
        self.guard.rollback(self.start);
    }

    /// Ends the frame; its arena is free for new frames.
    #[must_use]
    pub fn end(self) -> Arena {
        let OwnedFrame { guard, arena, .. } = self;
        guard.end();
        arena
    }
}

impl Arena {
    /// Begins a frame that takes the arena with it. See [`OwnedFrame`].
    #[must_use]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn into_frame(mut self) -> OwnedFrame {
        // SAFETY: only the lifetime changes. The guard borrows what the arena refers to, which stays where
        // it is when the arena moves; nobody else reaches the arena until the guard has ended.
        let guard: FrameGuard<'static> = unsafe { core::mem::transmute(self.begin()) };
        OwnedFrame { start: guard.checkpoint(), guard, arena: self }
    }
}

impl Default for OwnedFrame {
    fn default() -> OwnedFrame {
        OwnedFrame::new()
    }
}

impl fmt::Debug for OwnedFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.frame().fmt(f)
    }
}
