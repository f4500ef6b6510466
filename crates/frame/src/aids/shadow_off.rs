//! Without the features `asan` and `valgrind`: nothing.

/// Bytes behind each block that may not be touched.
pub(super) const EXTRA: usize = 0;
/// Whether anybody is told.
pub(super) const ON: bool = false;

/// A frame goes on in a chunk: no code.
#[inline(always)]
pub(crate) unsafe fn chunk_begun(_cursor: *mut u8, _limit: *mut u8) {}

/// A block was made: no code.
#[inline(always)]
pub(super) unsafe fn made(_block: *mut u8, _size: usize, _room: usize) {}

/// A block changed its size: no code.
#[inline(always)]
pub(super) unsafe fn resized(_block: *mut u8, _size: usize, _room: usize) {}

/// What lies behind a block may not be touched: no code.
#[inline(always)]
pub(super) unsafe fn guarded(_block: *mut u8, _size: usize, _room: usize) {}

/// An aid looks at memory: no code.
#[inline(always)]
pub(super) unsafe fn looked_at(_start: *mut u8, _end: *mut u8) {}

/// Memory may not be used any more: no code.
#[inline(always)]
pub(super) unsafe fn ended(_start: *mut u8, _bytes: usize) {}
