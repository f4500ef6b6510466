//! How the front caches have been used.

/// Bytes by which all front caches of a heap together may outgrow their first size.
pub const GROWTH_BUDGET: usize = 8 << 20;
/// Flushes in a row after which a front cache shrinks: its thread only frees, and the blocks left in the
/// cache keep pages from going back.
const SHRINK_AFTER: u16 = 16;
/// The same for blocks above [`MEDIUM`]: bytes flushed in a row.
const SHRINK_AFTER_BYTES: usize = 4 << 20;
/// Blocks above this size are so large that few of them make a difference.
pub const MEDIUM: usize = 8 * 1024;
/// Refills, or flushes, in a row after which the program is taken to be in the middle of a burst: it will go on taking, or
/// freeing, so more blocks are moved at once (`medium-400k`).
const BURST_AFTER: u16 = 4;

/// How the front cache of one class has been used.
#[derive(Clone, Copy, Debug)]
pub struct CacheState {
    /// Blocks taken from the slabs at the next refill.
    pub batch: u16,
    /// Refills since the last flush.
    refills: u16,
    /// Flushes since the last refill.
    pub(super) flushes: u16,
    /// Blocks flushed since the last refill.
    pub(super) flushed: u32,
    /// The room that it had before it shrank in a burst; 0 when it has not.
    pub(super) had: u16,
    /// True when the stack is the large one.
    pub(super) grown: bool,
}

impl CacheState {
    /// Not used yet.
    pub const fn new() -> CacheState {
        CacheState { batch: 0, refills: 0, flushes: 0, flushed: 0, had: 0, grown: false }
    }

    /// Takes note of a refill of a cache with room for `cap` blocks, and sets the batch: half of the room, so that blocks can
    /// come and go, or all of it in a burst.
    pub(super) fn note_refill(&mut self, cap: usize) {
        self.refills = self.refills.saturating_add(1);
        let most = if self.refills > BURST_AFTER { cap } else { cap / 2 };
        self.batch = (self.batch as usize * 2).min(most.max(1)) as u16;
    }

    /// Takes note of a flush.
    pub fn note_flush(&mut self) {
        self.refills = 0;
        self.flushes = self.flushes.saturating_add(1);
    }

    /// True in a burst of frees.
    pub(super) fn is_in_burst(&self) -> bool {
        self.flushes > BURST_AFTER
    }

    /// True when so much was flushed in a row that the cache, of blocks of `size` bytes, may shrink.
    pub(super) fn may_shrink(&self, size: usize) -> bool {
        match size > MEDIUM {
            true => self.flushed as usize * size >= SHRINK_AFTER_BYTES,
            false => self.flushes >= SHRINK_AFTER,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_fill_the_cache_only_in_a_burst() {
        let mut state = CacheState { batch: 8, ..CacheState::new() };
        for _ in 0..BURST_AFTER {
            state.note_refill(16);
            assert_eq!(state.batch, 8);
        }
        state.note_refill(16);
        assert_eq!(state.batch, 16);
        state.note_flush();
        state.note_refill(16);
        assert_eq!(state.batch, 8);
    }
}
