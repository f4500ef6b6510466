//! Where a request's values live.

use allocator_api2::alloc::{Allocator, Global};
use allocator_api2::vec::Vec;
use allod_frame::task::TaskAlloc;
use bytes::Bytes;
use std::fmt;

/// The memory of one request.
pub trait Memory: Allocator + Clone + Send + Sync + 'static {
    /// That of the request that runs here.
    fn here() -> Self;

    /// A body made of a text, where it lies.
    fn into_body(text: Vec<u8, Self>) -> Bytes;
}

/// The request's arena.
impl Memory for TaskAlloc {
    fn here() -> TaskAlloc {
        TaskAlloc::current()
    }

    fn into_body(text: Vec<u8, TaskAlloc>) -> Bytes {
        Bytes::from_owner(text)
    }
}

/// The heap.
impl Memory for Global {
    fn here() -> Global {
        Global
    }

    fn into_body(text: Vec<u8>) -> Bytes {
        let mut text = std::mem::ManuallyDrop::new(text);
        let (start, len, capacity) = (text.as_mut_ptr(), text.len(), text.capacity());
        // SAFETY: both kinds of vector take their memory from the global allocator.
        Bytes::from(unsafe { std::vec::Vec::from_raw_parts(start, len, capacity) })
    }
}

/// A string in a request's memory.
#[derive(Clone, Debug)]
pub struct Text<M: Memory>(pub Vec<u8, M>);

impl<M: Memory> Text<M> {
    /// An empty string.
    pub fn new_in(memory: M) -> Text<M> {
        Text(Vec::new_in(memory))
    }

    /// Formats a string.
    pub fn format(memory: M, text: fmt::Arguments<'_>) -> Text<M> {
        let mut string = Text::new_in(memory);
        fmt::Write::write_fmt(&mut string, text).expect("writing to memory cannot fail");
        string
    }
}

impl<M: Memory> fmt::Write for Text<M> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.0.extend_from_slice(part.as_bytes());
        Ok(())
    }
}
