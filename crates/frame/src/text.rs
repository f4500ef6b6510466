//! Strings.

use crate::error::{OutOfMemory, or_panic};
use crate::fill::Growing;
use crate::frame::Frame;
use core::fmt::{self, Write};
use core::str;

impl<'f> Frame<'f> {
    /// Copies a string into the frame.
    ///
    /// ```
    /// let mut arena = allod_frame::Arena::new();
    /// arena.frame(|f| {
    ///     let name = f.alloc_str("allod");
    ///     name.make_ascii_uppercase();
    ///     assert_eq!(name, "ALLOD");
    /// });
    /// ```
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_str(&self, text: &str) -> &'f mut str {
        let bytes = self.alloc_slice_copy(text.as_bytes());
        // SAFETY: a copy of a string.
        unsafe { str::from_utf8_unchecked_mut(bytes) }
    }

    /// [`alloc_str`](Frame::alloc_str) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out.
    #[inline(always)]
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_str(&self, text: &str) -> Result<&'f mut str, OutOfMemory> {
        let bytes = self.try_alloc_slice_copy(text.as_bytes())?;
        // SAFETY: a copy of a string.
        Ok(unsafe { str::from_utf8_unchecked_mut(bytes) })
    }

    /// Formats a string into the frame.
    ///
    /// # Panics
    /// When memory is out, or a `Display` implementation returns an error.
    ///
    /// ```
    /// let mut arena = allod_frame::Arena::new();
    /// arena.frame(|f| {
    ///     let text = f.alloc_fmt(format_args!("{} of {}", 3, 10));
    ///     assert_eq!(text, "3 of 10");
    /// });
    /// ```
    #[cfg_attr(feature = "located", track_caller)]
    pub fn alloc_fmt(&self, text: fmt::Arguments<'_>) -> &'f mut str {
        or_panic(self.try_alloc_fmt(text))
    }

    /// [`alloc_fmt`](Frame::alloc_fmt) that returns an error when memory is out.
    ///
    /// # Errors
    /// When memory is out.
    ///
    /// # Panics
    /// When a `Display` implementation returns an error.
    #[cfg_attr(feature = "located", track_caller)]
    pub fn try_alloc_fmt(&self, text: fmt::Arguments<'_>) -> Result<&'f mut str, OutOfMemory> {
        if let Some(text) = text.as_str() {
            return self.try_alloc_str(text);
        }
        let mut writer = Writer { text: Growing::new(self, 64)?, full: false };
        if writer.write_fmt(text).is_err() {
            assert!(writer.full, "a Display implementation returned an error");
            return Err(OutOfMemory);
        }
        // SAFETY: only whole strings were written.
        Ok(unsafe { str::from_utf8_unchecked_mut(writer.text.finish()) })
    }
}

struct Writer<'a, 'f> {
    text: Growing<'a, 'f, u8>,
    full: bool,
}

impl Write for Writer<'_, '_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.text.extend(part.as_bytes()).map_err(|OutOfMemory| {
            self.full = true;
            fmt::Error
        })
    }
}
