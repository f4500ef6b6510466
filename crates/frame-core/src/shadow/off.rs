//! A checker without its feature: nothing.

#[inline(always)]
pub(super) unsafe fn forbid(_start: *const u8, _bytes: usize) {}

#[inline(always)]
pub(super) unsafe fn allow(_start: *const u8, _bytes: usize) {}

#[inline(always)]
pub(super) unsafe fn uncover(_start: *const u8, _bytes: usize) {}
