//! Where a guard's frame began, for the aids that look at its end.

use super::Position;

/// A position.
pub(crate) struct Start(Position);

impl Start {
    /// A frame begins here.
    #[inline(always)]
    pub(crate) fn at(position: Position) -> Start {
        Start(position)
    }

    /// Calls `work` with where it began.
    #[inline(always)]
    pub(crate) fn then(&self, work: impl FnOnce(Position)) {
        work(self.0);
    }
}
