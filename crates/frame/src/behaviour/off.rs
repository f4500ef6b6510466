//! Without the feature `behaviour`: nothing.

use crate::located::Here;

/// What is known of a frame since its beginning: nothing.
pub(crate) struct Begun;

/// What is known of a pool: nothing.
pub(crate) struct PoolWatch;

impl Begun {
    /// A scope, which is not watched.
    pub(crate) const SCOPE: Begun = Begun;

    /// A frame begins: no code.
    #[inline(always)]
    pub(crate) fn begin(_: Here) -> Begun {
        Begun
    }

    /// A frame ends: no code.
    #[inline(always)]
    pub(crate) fn end(&mut self) {}
}

impl PoolWatch {
    /// A pool is made: no code.
    #[inline(always)]
    pub(crate) fn new(_: Here) -> PoolWatch {
        PoolWatch
    }

    /// A pool of a type uses a slot for the first time: no code.
    #[inline(always)]
    pub(crate) fn grew(&mut self, _of: &'static str, _slots: usize, _: Here) -> Untold {
        Untold::NOTHING
    }
}

/// A finding: none.
#[must_use]
pub(crate) struct Untold;

impl Untold {
    /// Nothing was found.
    pub(crate) const NOTHING: Untold = Untold;

    /// Tells of it: no code.
    #[inline(always)]
    pub(crate) fn tell(self) {}
}

/// Notes an allocation: no code.
#[inline(always)]
pub(crate) fn note(_bytes: usize, _: Here) {}

/// Notes that a value leaves its frame: no code.
#[inline(always)]
pub(crate) fn promoted(_bytes: usize, _: Here) {}
