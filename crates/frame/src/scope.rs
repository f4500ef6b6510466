//! Scopes within a frame.

use crate::drops::Entry;
use crate::frame::Frame;
use crate::guard::FrameGuard;
use crate::open::Open;
use core::ptr::{self, NonNull};

impl<'f> Frame<'f> {
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
        self.raw.set_position(position);
        if !drops.is_null() {
            // SAFETY: entries of a scope of this frame, newer than all of its own.
            unsafe { Entry::append(drops, self.raw.drops.get()) };
            self.raw.drops.set(drops);
        }
        // SAFETY: the value lies in memory that is this frame's now.
        Ok(unsafe { &mut *value.as_ptr() })
    }

    /// The guard of a scope within this frame.
    #[inline(always)]
    pub(crate) fn nested(&mut self) -> FrameGuard<'_> {
        // SAFETY: this frame is borrowed exclusively as long as the guard is there.
        unsafe {
            let scope = Frame::resume(self.raw.core, self.raw.position(), ptr::null_mut());
            FrameGuard::new(scope)
        }
    }
}
