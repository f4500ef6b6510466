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

    /// A pool uses a slot for the first time: no code.
    #[inline(always)]
    pub(crate) fn grew<T>(&mut self, _slots: usize, _: Here) {}
}

/// Notes an allocation: no code.
#[inline(always)]
pub(crate) fn note(_bytes: usize, _: Here) {}

/// Notes that a value leaves its frame: no code.
#[inline(always)]
pub(crate) fn promoted(_bytes: usize, _: Here) {}
