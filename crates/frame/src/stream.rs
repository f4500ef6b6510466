//! Streaming buffers: a large asset that loads over several frames, read while it loads.
//!
//! The writer fills from the front and publishes its progress with one release store; readers see
//! the published part, which is never written again.

use crate::error::OutOfMemory;
use crate::progress::Progress;
use allod_heap::span::{self, Kind};
use core::fmt;
use core::ops::Deref;
use core::ptr::{self, NonNull};
use core::slice;
use core::sync::atomic::{AtomicUsize, Ordering, fence};
use std::io;

struct Buffer {
    start: NonNull<u8>,
    len: usize,
    progress: Progress,
    ends: AtomicUsize,
}

/// One end of a buffer, in a block of the heap; the last end frees it. (An `Arc` would end the program
/// when memory is out.)
struct End(NonNull<Buffer>);

// SAFETY: one writer writes behind the published part, readers read in front of it, and ends are
// counted atomically.
unsafe impl Send for End {}
// SAFETY: as for Send.
unsafe impl Sync for End {}

impl End {
    /// The first end of a buffer on a span.
    fn new(start: NonNull<u8>, len: usize) -> Option<End> {
        let block = NonNull::new(allod_heap::malloc(size_of::<Buffer>()).cast::<Buffer>())?;
        let ends = AtomicUsize::new(1);
        // SAFETY: the block is new, large enough and aligned to 16.
        unsafe { block.write(Buffer { start, len, progress: Progress::new(), ends }) };
        Some(End(block))
    }
}

impl Clone for End {
    fn clone(&self) -> End {
        self.ends.fetch_add(1, Ordering::Relaxed);
        End(self.0)
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if self.ends.fetch_sub(1, Ordering::Release) == 1 {
            // Orders what the other ends did before this.
            fence(Ordering::Acquire);
            // SAFETY: neither writer nor reader is left.
            unsafe {
                span::free(self.start.as_ptr());
                allod_heap::free(self.0.as_ptr().cast());
            }
        }
    }
}

impl Deref for End {
    type Target = Buffer;
    fn deref(&self) -> &Buffer {
        // SAFETY: the buffer lives as long as one of its ends.
        unsafe { self.0.as_ref() }
    }
}

/// Makes a buffer for `len` bytes: the end that loads it and the end that reads it.
///
/// The memory is a span of its own, committed as it is written, and freed when both ends are gone.
///
/// # Errors
/// When memory is out.
///
/// ```
/// use std::io::Write;
/// let (mut loader, asset) = allod_frame::stream(10)?;
/// // Each frame loads a part ...
/// assert_eq!(loader.write(b"hello").unwrap(), 5);
/// assert_eq!((asset.loaded(), asset.is_complete()), (&b"hello"[..], false));
/// // ... until all is there.
/// loader.write_all(b"world").unwrap();
/// assert_eq!(asset.complete(), Some(&b"helloworld"[..]));
/// # Ok::<(), allod_frame::OutOfMemory>(())
/// ```
pub fn stream(len: usize) -> Result<(Loader, Asset), OutOfMemory> {
    let span = span::alloc(len.max(1), 1, Kind::Frame, ptr::without_provenance_mut(1))
        .ok_or(OutOfMemory)?;
    let start = NonNull::new(span.start).ok_or(OutOfMemory)?;
    let Some(buffer) = End::new(start, len) else {
        // SAFETY: taken above, and nobody's.
        unsafe { span::free(span.start) };
        return Err(OutOfMemory);
    };
    Ok((Loader { buffer: buffer.clone(), written: 0 }, Asset(buffer)))
}

/// The end of a [`stream`] that loads.
pub struct Loader {
    buffer: End,
    written: usize,
}

/// The end of a [`stream`] that reads; clones read the same asset.
#[derive(Clone)]
pub struct Asset(End);

impl Loader {
    /// Bytes still to come.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.buffer.len - self.written
    }

    /// Appends as much as fits and publishes it; returns the number of bytes.
    pub fn append(&mut self, bytes: &[u8]) -> usize {
        let n = bytes.len().min(self.remaining());
        // SAFETY: room behind the published part, which only this end touches.
        unsafe {
            let end = self.buffer.start.as_ptr().add(self.written);
            ptr::copy_nonoverlapping(bytes.as_ptr(), end, n);
        }
        self.written += n;
        self.buffer.progress.publish(self.written);
        n
    }
}

impl io::Write for Loader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(self.append(bytes))
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Asset {
    /// What is loaded so far.
    #[must_use]
    pub fn loaded(&self) -> &[u8] {
        // SAFETY: the published part is written and stays as it is.
        unsafe { slice::from_raw_parts(self.0.start.as_ptr(), self.0.progress.published()) }
    }

    /// True when all is loaded.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.loaded().len() == self.0.len
    }

    /// The whole asset, once it is loaded.
    #[must_use]
    pub fn complete(&self) -> Option<&[u8]> {
        Some(self.loaded()).filter(|loaded| loaded.len() == self.0.len)
    }
}

impl fmt::Debug for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loader({} of {})", self.written, self.buffer.len)
    }
}

impl fmt::Debug for Asset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Asset({} of {})", self.loaded().len(), self.0.len)
    }
}
