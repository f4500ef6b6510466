//! Without the feature `tags`: nothing.

/// Notes an allocation: no code.
#[inline(always)]
pub(crate) fn note(_bytes: usize) {}

/// Notes that the newest allocation grows: no code.
#[inline(always)]
pub(crate) fn grown(_bytes: usize) {}
