//! Samples: blocks that are looked at more closely.
//!
//! A **guarded** block lies on a page of its own, so that an access out of its bounds, or after it was freed,
//! faults and is reported. Few blocks are, so that a program in production may have them always:
//! docs/guarding.md.

pub use crate::sample::trace::{Walk, walk_with};

use crate::guard::blocks;
use crate::sample::due;

/// Has one block of so many guarded from now on, in all threads; none with 0. False when there is no memory for
/// guarded blocks: nothing has changed then. Blocks that are guarded stay so.
///
/// ```
/// use allod_heap::sampling;
/// assert!(sampling::guard_one_in(1));
/// let p = allod_heap::malloc(100);
/// // SAFETY: the block is ours.
/// unsafe {
///     p.write_bytes(7, 100);
///     // p.add(100).write(7) would be reported, and end the program.
///     allod_heap::free(p);
/// }
/// sampling::guard_one_in(0);
/// ```
pub fn guard_one_in(blocks: u32) -> bool {
    blocks::set_rate(blocks)
}

/// Of how many blocks one is guarded; 0 for none.
pub fn guarded_one_in() -> u32 {
    due::guarded_one_in()
}
