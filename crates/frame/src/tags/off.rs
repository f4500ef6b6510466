//! Without the feature `tags`: nothing.

/// Notes an allocation: no code.
#[inline(always)]
pub(crate) fn note(_bytes: usize) {}

/// Notes that the newest allocation grows: no code.
#[inline(always)]
pub(crate) fn grown(_bytes: usize) {}

/// The row of the tag in force: none.
#[allow(dead_code, reason = "for the feature `canaries`")]
#[inline(always)]
pub(crate) fn current() -> usize {
    0
}

/// A tag's name by its row: none.
#[allow(dead_code, reason = "for the feature `canaries`")]
#[inline(always)]
pub(crate) fn name(_row: usize) -> &'static str {
    ""
}
