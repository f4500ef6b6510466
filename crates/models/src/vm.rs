//! Memory: every block is a page of its own, and loom watches who touches it.

use crate::base::layout::UNIT;
use crate::base::sync::process_wide;
use crate::map::span_map::UNITS;
use crate::slab::slabs::{BLOCKS, SIZE};
use loom::cell::UnsafeCell;

process_wide! {
    /// What each block holds.
    static CELLS: Vec<UnsafeCell<u8>> = (0..UNITS * BLOCKS).map(|_| UnsafeCell::new(0)).collect();
}

fn cell(p: usize) -> usize {
    p / UNIT * BLOCKS + p % UNIT / SIZE
}

/// The size of a page.
pub fn page_size() -> usize {
    SIZE
}

/// Gives pages back to the system: they read as zero afterwards.
///
/// # Safety
/// Nobody uses them, which is what loom checks.
pub unsafe fn purge(from: usize, len: usize) -> bool {
    (from..from + len).step_by(SIZE).for_each(|p| write(p, 0));
    true
}

/// Uses a block.
pub fn write(p: usize, value: u8) {
    // SAFETY: the block is the caller's, which is what loom checks.
    CELLS[cell(p)].with_mut(|byte| unsafe { *byte = value });
}

/// Uses a block.
pub fn read(p: usize) -> u8 {
    // SAFETY: as for `write`.
    CELLS[cell(p)].with(|byte| unsafe { *byte })
}
