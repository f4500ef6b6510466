//! Without the feature `canaries`: nothing.

use super::Position;
use crate::located::Here;
use allod_frame_core::chunk::Core;
use core::ptr::NonNull;

/// Bytes behind each block.
pub(super) const EXTRA: usize = 0;

/// What was found: nothing.
pub(super) struct Checked;

/// What is known of a block: nothing.
pub(super) struct Known;

impl Checked {
    /// Where the frame's memory may be used again: from the start on.
    #[inline(always)]
    pub(super) fn position(&self, start: Position) -> Position {
        start
    }

    /// Nothing to report: no code.
    #[inline(always)]
    pub(super) fn report(self) {}
}

/// Writes a block's canary: no code.
#[inline(always)]
pub(super) unsafe fn write(
    _: NonNull<Core>,
    _before: *mut u8,
    _block: *mut u8,
    _size: usize,
    _room: usize,
    _: Here,
) {
}

/// Takes the newest canary away: no code.
#[inline(always)]
pub(super) unsafe fn take(_cursor: *mut u8) -> Known {
    Known
}

/// Puts a canary behind its block: no code.
#[inline(always)]
pub(super) unsafe fn put(_: Known, _block: *mut u8, _size: usize, _room: usize) {}

/// The cursor before the newest block: the block.
#[cfg(feature = "allocator-api2")]
#[inline(always)]
pub(super) unsafe fn before(_cursor: *mut u8, block: *mut u8) -> *mut u8 {
    block
}

/// Looks at canaries: no code.
#[inline(always)]
pub(super) unsafe fn check(_: NonNull<Core>, _from: Position, _to: Position) -> Checked {
    Checked
}
