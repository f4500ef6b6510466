//! When idle slabs are given up: slabs of classes of which the program has no block. One block in a front
//! cache keeps a slab of many others, and a program that goes through many sizes leaves one with each.
//!
//! They are given up when new slabs find no run near, because the memory of idle ones serves them as well. A look
//! at all classes costs about as much as making one slab, so there is one look per half MiB of such slabs.

use crate::base::layout::PIECE;

/// Decides when it is time. All zero bytes: the initial state.
pub struct IdleSlabs {
    /// Units of slabs for which there was no run near since the last look.
    missed: usize,
    due: bool,
}

impl IdleSlabs {
    /// Units missed between two looks.
    const LOOK_AFTER: usize = PIECE / 4;

    /// Nothing missed yet.
    pub const fn new() -> IdleSlabs {
        IdleSlabs { missed: 0, due: false }
    }

    /// Notes that no run near suffices for a slab of `units` units. True when idle slabs are to be given up before a
    /// slab is made from elsewhere; at the next call they have been.
    #[cold]
    pub fn note_missed(&mut self, units: usize) -> bool {
        if core::mem::take(&mut self.due) {
            self.missed = 0;
        } else {
            self.missed += units;
            self.due = self.missed >= IdleSlabs::LOOK_AFTER;
        }
        self.due
    }

    /// True when no slab was made because idle ones are to be given up first.
    pub fn are_due(&self) -> bool {
        self.due
    }
}
