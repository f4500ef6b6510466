//! Without the feature `located`: nothing.

/// No place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here;

/// No place: no code.
#[inline(always)]
pub(crate) fn here() -> Here {
    Here
}
