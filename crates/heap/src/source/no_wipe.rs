//! Spans of other layers come back as they are.

/// Leaves whole units as they are. True when they read as zero.
///
/// # Safety
/// Does nothing.
pub unsafe fn wipe(_: usize, _: usize) -> bool {
    false
}
