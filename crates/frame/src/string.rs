//! Strings that grow in a frame.

use crate::error::{OutOfMemory, or_panic};
use crate::fill::Growing;
use crate::frame::Frame;
use core::fmt;
use core::ops::{Deref, DerefMut};
use core::str;

/// A growing string in a frame; it grows in place while it is the newest allocation.
///
/// For text that is built piece by piece; [`alloc_str`](Frame::alloc_str) and
/// [`alloc_fmt`](Frame::alloc_fmt) are for text that is known at once. Blocks that it has outgrown
/// stay until the frame's end.
///
/// ```
/// use allod_frame::{Arena, FrameString};
/// use std::fmt::Write;
/// Arena::new().frame(|f| {
///     let mut list = FrameString::new_in(&*f);
///     for word in ["one", "two"] {
///         write!(list, "{}{word}", if list.is_empty() { "" } else { ", " }).unwrap();
///     }
///     list.push('!');
///     let done: &mut str = list.finish();
///     assert_eq!(done, "one, two!");
/// });
/// ```
pub struct FrameString<'x, 'f>(Growing<'x, 'f, u8>);

impl<'x, 'f> FrameString<'x, 'f> {
    /// An empty string; takes nothing of the frame yet.
    ///
    /// # Panics
    /// When memory is out.
    #[must_use]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn new_in(frame: &'x Frame<'f>) -> Self {
        FrameString::with_capacity_in(0, frame)
    }

    /// An empty string with room for `bytes` bytes.
    ///
    /// # Panics
    /// When memory is out; see [`try_with_capacity_in`](FrameString::try_with_capacity_in).
    #[must_use]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn with_capacity_in(bytes: usize, frame: &'x Frame<'f>) -> Self {
        or_panic(FrameString::try_with_capacity_in(bytes, frame))
    }

    /// An empty string with room for `bytes` bytes.
    ///
    /// # Errors
    /// When memory is out.
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_with_capacity_in(bytes: usize, frame: &'x Frame<'f>) -> Result<Self, OutOfMemory> {
        Growing::new(frame, bytes).map(FrameString)
    }

    /// Appends text.
    ///
    /// # Panics
    /// When memory is out; see [`try_push_str`](FrameString::try_push_str).
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn push_str(&mut self, text: &str) {
        or_panic(self.try_push_str(text));
    }

    /// Appends text.
    ///
    /// # Errors
    /// When memory is out; the string is then unchanged.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_push_str(&mut self, text: &str) -> Result<(), OutOfMemory> {
        self.0.extend(text.as_bytes())
    }

    /// Appends a character.
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn push(&mut self, c: char) {
        self.push_str(c.encode_utf8(&mut [0; 4]));
    }

    /// The text, which lives as long as the frame; unused room is given back if the string is the
    /// newest allocation.
    #[must_use]
    pub fn finish(self) -> &'f mut str {
        // SAFETY: only whole strings were appended.
        unsafe { str::from_utf8_unchecked_mut(self.0.finish()) }
    }
}

impl Deref for FrameString<'_, '_> {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        // SAFETY: only whole strings were appended.
        unsafe { str::from_utf8_unchecked(self.0.as_slice()) }
    }
}

impl DerefMut for FrameString<'_, '_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut str {
        // SAFETY: only whole strings were appended.
        unsafe { str::from_utf8_unchecked_mut(self.0.as_mut_slice()) }
    }
}

/// Returns an error only when memory is out.
impl fmt::Write for FrameString<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.try_push_str(text).map_err(|OutOfMemory| fmt::Error)
    }
}

impl fmt::Display for FrameString<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Debug for FrameString<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
