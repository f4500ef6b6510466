//! Results that outlive their frame: handed to another thread, or kept for the next frames.

use crate::arena::Arena;
use crate::drops::{self, Entry};
use crate::open::Open;
use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use std::collections::VecDeque;

/// A frame whose work is done but which keeps its memory, with the result in it.
///
/// It passes a frame's result to another thread without copying: the whole arena moves along and
/// comes back by [`recycle`](Finished::recycle). It is `Send` if the result is, because everything
/// else in the frame is either unreachable or registered for drop and `Send`.
///
/// ```
/// use allod_frame::Arena;
/// let finished = Arena::new().finish(|f| f.alloc_slice_fill_with(1000, |i| i as u64));
/// let (sum, arena) = std::thread::spawn(move || {
///     let sum: u64 = finished.iter().sum();
///     (sum, finished.recycle())
/// })
/// .join()
/// .unwrap();
/// assert_eq!((sum, arena.frames()), (499_500, 1));
/// ```
///
/// Results that are not `Send` stay:
/// ```compile_fail
/// use std::cell::Cell;
/// let finished = allod_frame::Arena::new().finish(|f| f.alloc(std::ptr::null::<u8>()));
/// std::thread::spawn(move || finished.recycle());
/// ```
pub struct Finished<T: ?Sized + 'static> {
    value: NonNull<T>,
    drops: *mut Entry,
    arena: Arena,
}

// SAFETY: the result is reached through this alone; registered drops are of `Send` types, and other
// values of the frame are never touched again.
unsafe impl<T: ?Sized + Send> Send for Finished<T> {}
// SAFETY: a shared reference gives out shared references to the result only.
unsafe impl<T: ?Sized + Sync> Sync for Finished<T> {}

impl Arena {
    /// Runs `work` in a frame and keeps the frame with its result.
    ///
    /// The result must not refer to other values of the frame, as slices, strings and plain values
    /// do not. It outlives the world around the closure, so this frame's world is `'static`, and
    /// values borrowed from outside cannot be stored in it.
    ///
    /// ```compile_fail
    /// let mut outside = [1, 2, 3];
    /// let short = &mut outside;
    /// let finished = allod_frame::Arena::new().finish(|_| short); // would outlive `outside`
    /// ```
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn finish<T: ?Sized + 'static>(
        mut self,
        work: impl for<'f> FnOnce(&'f mut Open<'f, 'static>) -> &'f mut T,
    ) -> Finished<T> {
        let mut guard = self.begin();
        // SAFETY: the frame's lifetime is the closure's own, so it cannot be exchanged for another.
        let value = NonNull::from(work(unsafe { guard.frame_mut() }));
        let (_, drops) = guard.keep();
        Finished { value, drops, arena: self }
    }
}

impl<T: ?Sized> Finished<T> {
    /// Drops the result and the frame's registered values; the arena is free for new frames.
    #[must_use]
    pub fn recycle(self) -> Arena {
        let mut finished = core::mem::ManuallyDrop::new(self);
        // SAFETY: neither the drops nor the arena are used again. The arena is read first, so that its
        // memory goes back also when a drop panics.
        unsafe {
            let arena = core::ptr::read(&raw mut finished.arena);
            drops::run(finished.drops, 0);
            arena
        }
    }
}

impl<T: ?Sized> Deref for Finished<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the arena keeps the value's memory, and the value is ours.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for Finished<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as for `deref`, and we are borrowed exclusively.
        unsafe { self.value.as_mut() }
    }
}

impl<T: ?Sized> Drop for Finished<T> {
    fn drop(&mut self) {
        // SAFETY: the values end here; the arena gives their memory back afterwards.
        unsafe { drops::run(self.drops, 0) };
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Finished<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Finished").field(&&**self).finish()
    }
}

/// Frames whose results are kept for `k` more frames: 1 for double, 2 for triple buffering.
///
/// ```
/// use allod_frame::Ring;
/// let mut ring = Ring::new(1);
/// for tick in 0..5u32 {
///     ring.frame(|f| f.alloc_slice_fill(100, tick));
///     if tick > 0 {
///         assert_eq!(ring.ago(1).unwrap()[0], tick - 1, "a renderer reads the frame before");
///     }
///     assert!(ring.ago(2).is_none());
/// }
/// ```
#[derive(Debug)]
pub struct Ring<T: ?Sized + 'static> {
    /// The newest first.
    kept: VecDeque<Finished<T>>,
    keep: usize,
}

impl<T: ?Sized> Ring<T> {
    /// A ring that keeps each result for `keep` more frames. Takes no memory yet.
    #[must_use]
    pub fn new(keep: usize) -> Self {
        Ring { kept: VecDeque::new(), keep }
    }

    /// Runs a frame and keeps its result; the oldest result is dropped, and its arena serves the new
    /// frame.
    ///
    /// As for [`Arena::finish`], values borrowed from outside cannot be stored in the frame.
    #[cfg_attr(feature = "located", track_caller)]
    pub fn frame(
        &mut self,
        work: impl for<'f> FnOnce(&'f mut Open<'f, 'static>) -> &'f mut T,
    ) -> &mut T {
        let arena = match self.kept.len() > self.keep {
            true => self.kept.pop_back().map(Finished::recycle),
            false => None,
        };
        self.kept.push_front(arena.unwrap_or_default().finish(work));
        &mut self.kept[0]
    }

    /// The result of `n` frames ago, 0 for the newest; `None` if it is gone or never existed.
    #[must_use]
    pub fn ago(&self, n: usize) -> Option<&T> {
        self.kept.get(n).map(|finished| &**finished)
    }

    /// Takes the oldest result out, for another thread; [`give_back`](Ring::give_back) returns its
    /// arena, and without it the next frame begins with a new one.
    #[must_use]
    pub fn take_oldest(&mut self) -> Option<Finished<T>> {
        self.kept.pop_back()
    }

    /// Puts a result back as the oldest, so that its arena is reused.
    pub fn give_back(&mut self, finished: Finished<T>) {
        self.kept.push_back(finished);
    }
}
