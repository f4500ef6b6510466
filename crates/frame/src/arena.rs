//! Arenas: the memory kept between frames.

use crate::error::{OutOfMemory, or_panic};
use crate::frame::Frame;
use crate::guard::FrameGuard;
use crate::located;
use crate::open::Open;
use allod_frame_core::chunk::Core;
use core::fmt;
use core::ptr::NonNull;

/// The memory of one sequence of frames.
///
/// An arena is 8 bytes and a block of 72 bytes in the heap until the first allocation; then it takes
/// chunks of 64 KiB, 128 KiB and so on from the heap's spans. The chunks are kept from frame to
/// frame, so from the second frame of the same size on nothing is requested from the heap or the
/// system. They are given back when the arena is dropped, or by [`trim`](Arena::trim).
///
/// An arena may move between threads, but only one uses it at a time (`Send`, not `Sync`).
///
/// ```
/// use allod_frame::Arena;
/// let mut arena = Arena::new();
/// let total = arena.frame(|frame| {
///     let a = frame.alloc(20);
///     let b = frame.alloc(22);
///     *a + *b
/// });
/// assert_eq!(total, 42);
/// ```
pub struct Arena(NonNull<Core>);

// SAFETY: the arena alone reaches its core and chunks while no frame is open, open frames borrow it,
// and the heap takes spans back from any thread.
unsafe impl Send for Arena {}

impl Arena {
    /// An arena without memory.
    ///
    /// # Panics
    /// When memory is out; see [`try_new`](Arena::try_new).
    #[must_use]
    pub fn new() -> Arena {
        or_panic(Arena::try_new())
    }

    /// An arena without memory.
    ///
    /// # Errors
    /// When the heap has no block for it.
    ///
    /// ```
    /// let arena = allod_frame::Arena::try_new()?;
    /// assert_eq!(arena.reserved(), 0);
    /// # Ok::<(), allod_frame::OutOfMemory>(())
    /// ```
    pub fn try_new() -> Result<Arena, OutOfMemory> {
        Core::create().map(Arena).ok_or(OutOfMemory)
    }

    /// An arena whose first chunk has room for `bytes` bytes.
    ///
    /// # Errors
    /// When memory is out.
    ///
    /// ```
    /// let arena = allod_frame::Arena::try_with_capacity(1 << 20)?;
    /// assert!(arena.reserved() >= 1 << 20);
    /// # Ok::<(), allod_frame::OutOfMemory>(())
    /// ```
    pub fn try_with_capacity(bytes: usize) -> Result<Arena, OutOfMemory> {
        let arena = Arena::try_new()?;
        // SAFETY: the core is ours.
        unsafe { Core::append(arena.0, bytes) }.ok_or(OutOfMemory)?;
        Ok(arena)
    }

    /// Runs `work` in a frame. Everything it allocates is freed when it returns or panics.
    ///
    /// The frame's lifetime exists only inside the closure, so nothing in the frame can leave it.
    /// Begin and end cost a few instructions, no matter how much was allocated; values with a
    /// registered [drop](Frame::alloc_drop) are dropped, newest first.
    ///
    /// ```compile_fail
    /// let mut arena = allod_frame::Arena::new();
    /// let escaped = arena.frame(|frame| frame.alloc(1)); // does not compile: the frame has ended
    /// ```
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn frame<'env, R>(&mut self, work: impl for<'f> FnOnce(&'f mut Open<'f, 'env>) -> R) -> R {
        let mut guard = self.begin();
        // SAFETY: the frame's lifetime is the closure's own, so it cannot be exchanged for another.
        work(unsafe { guard.frame_mut() })
    }

    /// Begins a frame that ends when the guard is dropped. See [`FrameGuard`].
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn begin(&mut self) -> FrameGuard<'_> {
        // SAFETY: the core is ours alone, and borrowed as long as the guard is there.
        unsafe {
            (*self.0.as_ptr()).frames += 1;
            FrameGuard::begin(Frame::start(self.0), located::here())
        }
    }

    /// An arena whose first chunk is the caller's memory.
    ///
    /// # Safety
    /// As for [`Core::lend`].
    #[cfg(feature = "task")]
    pub(crate) unsafe fn try_new_on(start: *mut u8, bytes: usize) -> Result<Arena, OutOfMemory> {
        let arena = Arena::try_new()?;
        // SAFETY: the caller's contract; a new arena has no chunks.
        unsafe { Core::lend(arena.0, start, bytes) };
        Ok(arena)
    }

    /// Begins a frame that may end on another thread; records kept by thread do not include it.
    #[cfg(feature = "task")]
    pub(crate) fn begin_travelling(&mut self) -> FrameGuard<'_> {
        // SAFETY: as for `begin`.
        unsafe {
            (*self.0.as_ptr()).frames += 1;
            FrameGuard::new(Frame::start(self.0))
        }
    }

    /// Bytes taken from the heap's spans and kept.
    #[must_use]
    pub fn reserved(&self) -> usize {
        // SAFETY: the core is live.
        unsafe { self.0.as_ref() }.reserved
    }

    /// Frames begun so far, nested scopes not counted.
    #[must_use]
    pub fn frames(&self) -> u64 {
        // SAFETY: the core is live.
        unsafe { self.0.as_ref() }.frames
    }

    /// Gives all kept chunks back to the heap; the next frame takes new ones.
    ///
    /// ```
    /// let mut arena = allod_frame::Arena::new();
    /// arena.frame(|f| { f.alloc_slice_fill(1 << 20, 7u8); });
    /// assert!(arena.reserved() > 0);
    /// arena.trim();
    /// assert_eq!(arena.reserved(), 0);
    /// ```
    pub fn trim(&mut self) {
        // SAFETY: no frame is open while the arena is borrowed exclusively.
        unsafe { Core::trim(self.0) }
    }
}

impl Default for Arena {
    fn default() -> Self {
        Arena::new()
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: no frame borrows the arena any more.
        unsafe { Core::destroy(self.0) }
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena")
            .field("reserved", &self.reserved())
            .field("frames", &self.frames())
            .finish()
    }
}
