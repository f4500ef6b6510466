//! Access to the current arena's frame, and values of it that cross `.await`.

use super::arena::expect_innermost;
use super::handle::TaskAlloc;
use super::shared::Shared;
use crate::open::Open;
use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

/// Runs `work` with the frame of the current arena.
///
/// What it allocates stays until the task ends, and references to it cannot leave the closure; for
/// scratch, [`thread::frame`](crate::thread::frame) gives the memory back at once. This is the place
/// for `alloc_drop`: values that are dropped when the arena goes.
///
/// # Panics
/// Outside any task's arena.
///
/// ```compile_fail
/// # use allod_frame::task::{self, TaskArena};
/// TaskArena::new().enter(|| {
///     let escaped = task::with(|f| f.alloc(1)); // does not compile: see `keep`
/// });
/// ```
///
/// Nor can the frame be used from another thread:
/// ```compile_fail
/// allod_frame::task::with(|f| {
///     std::thread::scope(|s| {
///         s.spawn(|| *f.alloc(1)); // does not compile: a frame is not `Sync`
///     });
/// });
/// ```
#[inline]
#[track_caller]
pub fn with<'env, R>(work: impl for<'f> FnOnce(&'f Open<'f, 'env>) -> R) -> R {
    // SAFETY: the arena is open here until this returns, and the lifetime is the closure's own.
    unsafe { work(open(expect_innermost())) }
}

/// Makes a value in the frame of the current arena and keeps it, across `.await` and for as long as
/// the handle lives: a slice, a string, formatted text, a value.
///
/// The value must not refer to other values of the frame, nor lie in the world around the closure.
///
/// # Panics
/// Outside any task's arena, and when memory is out.
///
/// ```
/// use allod_frame::task::{self, TaskArena};
/// let mut arena = TaskArena::new();
/// let mut line = arena.enter(|| task::keep(|f| f.alloc_fmt(format_args!("{}-{}", 1, 2))));
/// line.make_ascii_uppercase();
/// assert_eq!(&*line, "1-2");
/// let squares = arena.enter(|| task::keep(|f| f.alloc_slice_fill_with(4, |i| i * i)));
/// assert_eq!(*squares, [0, 1, 4, 9]);
/// ```
#[inline]
#[track_caller]
pub fn keep<T: ?Sized + 'static>(
    work: impl for<'f> FnOnce(&'f Open<'f, 'static>) -> &'f mut T,
) -> Kept<T> {
    let keeper = TaskAlloc::current();
    // SAFETY: as in `with`. A reference for any lifetime of the closure's own is of the frame or
    // `'static`; the handle keeps the frame's memory, and no other reference to the value is left,
    // since this one was exclusive.
    let value = unsafe { NonNull::from(work(open(expect_innermost()))) };
    Kept { value, keeper }
}

/// The frame as closures get it.
///
/// # Safety
/// The arena is open on the calling thread for `'f`, a lifetime of a closure's own.
#[inline(always)]
unsafe fn open<'f, 'env: 'f>(shared: NonNull<Shared>) -> &'f Open<'f, 'env> {
    // SAFETY: the caller's contract; only lifetimes change, and `Open` has the layout of its frame. A
    // shared reference cannot be exchanged.
    unsafe { &*(&raw const *shared.as_ref().frame()).cast::<Open<'f, 'env>>() }
}

/// A value in a task's arena, owned: `'static`, and `Send` where the value is. See [`keep`].
///
/// 16 bytes, or 24 for slices and strings. Dropping it does not drop the value, which has no drop
/// or a registered one; it lets the arena go if it is the last.
pub struct Kept<T: ?Sized + 'static> {
    value: NonNull<T>,
    keeper: TaskAlloc,
}

// SAFETY: the value is reached through this alone.
unsafe impl<T: ?Sized + Send> Send for Kept<T> {}
// SAFETY: a shared reference gives out shared references to the value only.
unsafe impl<T: ?Sized + Sync> Sync for Kept<T> {}

impl<T: ?Sized> Kept<T> {
    /// The allocator of the arena that the value lies in.
    #[must_use]
    pub fn allocator(&self) -> &TaskAlloc {
        &self.keeper
    }
}

impl<T: ?Sized> Deref for Kept<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the keeper keeps the value's memory, and the value is ours.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for Kept<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as for `deref`, and we are borrowed exclusively.
        unsafe { self.value.as_mut() }
    }
}

impl<T: ?Sized> AsRef<T> for Kept<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
