//! How the front caches have been used.

/// Bytes by which all front caches of a heap together may outgrow their first size.
pub const GROWTH_BUDGET: usize = 8 << 20;
/// Flushes in a row after which a front cache shrinks: its thread only frees, and the blocks left in the
/// cache keep pages from going back.
const SHRINK_AFTER: u16 = 16;

/// How the front cache of one class has been used.
#[derive(Clone, Copy, Debug)]
pub struct CacheState {
    /// Blocks taken from the slabs at the next refill.
    pub batch: u16,
    /// Flushes since the last refill.
    pub(super) flushes: u16,
    /// Blocks flushed since the last refill.
    pub(super) flushed: u32,
    /// True when the stack is the large one.
    pub(super) grown: bool,
}

impl CacheState {
    /// Not used yet.
    pub const fn new() -> CacheState {
        CacheState { batch: 0, flushes: 0, flushed: 0, grown: false }
    }

    /// Takes note of a flush. True when the cache is to shrink.
    pub fn note_flush(&mut self) -> bool {
        self.flushes = self.flushes.saturating_add(1);
        self.flushes >= SHRINK_AFTER
    }

    /// Takes note of what a flush returned to the slabs.
    pub fn note_flushed(&mut self, blocks: usize) {
        self.flushed = self.flushed.saturating_add(blocks as u32);
    }
}

impl Default for CacheState {
    fn default() -> Self {
        Self::new()
    }
}
