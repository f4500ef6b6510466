//! How much of a streaming buffer is written. `crates/models` explores this file with loom.

use crate::sync::{AtomicUsize, Ordering};

/// How much of a buffer is written.
#[derive(Debug)]
pub struct Progress(AtomicUsize);

impl Progress {
    /// Nothing is written.
    pub fn new() -> Progress {
        Progress(AtomicUsize::new(0))
    }

    /// Whoever sees `bytes` sees everything written before.
    pub fn publish(&self, bytes: usize) {
        self.0.store(bytes, Ordering::Release);
    }

    /// How many bytes are written and may be read.
    pub fn published(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }
}
