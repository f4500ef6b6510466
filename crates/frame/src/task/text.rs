//! Strings in a task's arena.

use super::handle::{TaskAlloc, TaskVec, vec};
use core::fmt;
use core::ops::Deref;
use core::str;

/// A growing string in a task's arena that lives across `.await`.
///
/// ```
/// use allod_frame::task::{TaskArena, TaskString};
/// use std::fmt::Write;
/// TaskArena::new().enter(|| {
///     let mut text = TaskString::new();
///     write!(text, "{}, {}", 1, 2).unwrap();
///     text.push_str(", 3");
///     assert_eq!(&*text, "1, 2, 3");
/// });
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskString(TaskVec<u8>);

impl TaskString {
    /// An empty string in the current arena.
    ///
    /// # Panics
    /// Outside any task's arena.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn new() -> TaskString {
        TaskString(vec())
    }

    /// An empty string in a given arena.
    #[inline]
    #[must_use]
    pub fn new_in(arena: TaskAlloc) -> TaskString {
        TaskString(TaskVec::new_in(arena))
    }

    /// Makes room for at least `bytes` bytes more.
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn reserve(&mut self, bytes: usize) {
        self.0.reserve(bytes);
    }

    /// Appends text.
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn push_str(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Appends a character.
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn push(&mut self, c: char) {
        self.push_str(c.encode_utf8(&mut [0; 4]));
    }

    /// The string's bytes, without copying, for example for `Bytes::from_owner`.
    #[inline]
    #[must_use]
    pub fn into_bytes(self) -> TaskVec<u8> {
        self.0
    }
}

impl Default for TaskString {
    #[track_caller]
    fn default() -> Self {
        TaskString::new()
    }
}

impl From<&str> for TaskString {
    #[inline]
    #[track_caller]
    fn from(text: &str) -> TaskString {
        let mut string = TaskString::new();
        string.push_str(text);
        string
    }
}

impl Deref for TaskString {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        // SAFETY: only whole strings are appended.
        unsafe { str::from_utf8_unchecked(&self.0) }
    }
}

impl AsRef<[u8]> for TaskString {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Write for TaskString {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_str(text);
        Ok(())
    }
}

impl fmt::Display for TaskString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Debug for TaskString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
