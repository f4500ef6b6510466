//! Without the feature `tags`: nothing.

/// Notes an allocation: no code.
#[inline(always)]
pub(crate) fn note(_bytes: usize) {}
