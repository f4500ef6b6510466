//! Without the feature `stats`: nothing.

/// Whether a guard's end is counted: nothing is.
pub(crate) struct Counted;

impl Counted {
    /// The guard of a frame.
    pub(crate) const FRAME: Counted = Counted;
    /// The guard of a scope.
    pub(crate) const SCOPE: Counted = Counted;

    /// A frame or scope ends: no code.
    #[inline(always)]
    pub(crate) fn end(&self, _used: impl FnOnce() -> usize) {}
}

/// Notes an allocation: no code.
#[inline(always)]
pub(crate) fn note(_bytes: usize) {}

/// Notes that the newest allocation grows: no code.
#[inline(always)]
pub(crate) fn grown(_bytes: usize) {}
