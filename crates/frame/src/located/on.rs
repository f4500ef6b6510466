//! Where in the source an allocation is made (feature `located`).

use core::panic::Location;

/// A place in the source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here(pub(crate) &'static Location<'static>);

/// The caller's place.
#[inline(always)]
#[track_caller]
pub(crate) fn here() -> Here {
    Here(Location::caller())
}
