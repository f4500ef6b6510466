//! The error when memory is out.

use core::fmt;

/// There is no memory for an allocation, or it exceeds `isize::MAX` bytes.
///
/// Returned by the methods whose names start with `try_`; the others panic with the same words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of memory: the frame could not grow")
    }
}

impl core::error::Error for OutOfMemory {}
