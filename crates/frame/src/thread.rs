//! One arena per thread, found by two instructions: no lock, no hashing.
//!
//! A thread's arenas are created at its first use and freed when the thread ends. A frame takes one
//! and puts it back, so nested frames (for example, in a library) get their own arenas.

use crate::error::{OutOfMemory, or_panic};
use crate::frame::Frame;
use crate::guard::FrameGuard;
use crate::located;
use crate::open::Open;
use allod_frame_core::thread::Taken;
pub use allod_frame_core::thread::{MAX_THREADS, index, trim};

/// Runs `work` in a frame of the calling thread's arena.
///
/// # Panics
/// When memory is out.
///
/// ```
/// use allod_frame::thread;
/// let total: u32 = thread::frame(|f| {
///     let ours = f.alloc_slice_fill(10, 1);
///     // A frame inside a frame has an arena of its own.
///     let theirs: u32 = thread::frame(|g| g.alloc_slice_fill(10, 2).iter().sum());
///     ours.iter().sum::<u32>() + theirs
/// });
/// assert_eq!(total, 30);
/// ```
#[inline]
#[cfg_attr(feature = "located", track_caller)]
pub fn frame<'env, R>(work: impl for<'f> FnOnce(&'f mut Open<'f, 'env>) -> R) -> R {
    or_panic(try_frame(work))
}

/// [`frame`] that returns an error when there is no memory for the thread's arena.
///
/// # Errors
/// When memory is out or [`MAX_THREADS`] threads have numbers; `work` is not called then.
#[inline]
#[cfg_attr(feature = "located", track_caller)]
pub fn try_frame<'env, R>(
    work: impl for<'f> FnOnce(&'f mut Open<'f, 'env>) -> R,
) -> Result<R, OutOfMemory> {
    let taken = Taken::take()?;
    // SAFETY: the core is ours until `taken` is dropped, which happens after the guard's drop.
    unsafe {
        (*taken.core().as_ptr()).frames += 1;
        let mut guard = FrameGuard::begin(Frame::start(taken.core()), located::here());
        Ok(work(guard.frame_mut()))
    }
}
