//! The argument of a frame's closure.

use crate::frame::Frame;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

/// A [`Frame`] as closures get it: `'env`, the world around the closure, is known to outlive the
/// frame, so values of the frame may refer to it (like in `std::thread::scope`).
///
/// ```
/// let name = String::from("outside");
/// let mut arena = allod_frame::Arena::new();
/// arena.frame(|f| {
///     let words: &[&str] = f.alloc_slice_copy(&[name.as_str(), "inside"]);
///     f.scope(|s| assert_eq!(s.alloc(words)[0], "outside"));
/// });
/// ```
#[repr(transparent)]
pub struct Open<'f, 'env: 'f> {
    frame: Frame<'f>,
    env: PhantomData<&'env mut &'env ()>,
}

impl<'f> Deref for Open<'f, '_> {
    type Target = Frame<'f>;
    #[inline(always)]
    fn deref(&self) -> &Frame<'f> {
        &self.frame
    }
}

impl DerefMut for Open<'_, '_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.frame
    }
}

impl fmt::Debug for Open<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.frame.fmt(f)
    }
}
