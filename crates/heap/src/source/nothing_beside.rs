//! Nothing is opened beside the units.

use crate::base::layout::Unit;

/// Nothing.
#[derive(Clone, Copy)]
pub struct Beside;

impl Beside {
    /// Nothing.
    pub const fn new() -> Beside {
        Beside
    }

    /// Needs no place.
    pub fn choose(&mut self, _: usize, _: bool) -> bool {
        true
    }

    /// Needs nothing opened.
    pub fn reach(&mut self, _: Unit, _: bool) -> bool {
        true
    }

    /// Has nothing to give up.
    ///
    /// # Safety
    /// Does nothing.
    pub unsafe fn give_up(&mut self) {}
}
