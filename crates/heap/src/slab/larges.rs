//! The large blocks of a heap that is destroyed.

use crate::base::list::List;
use crate::map::record::{ByTime, Span};
use crate::map::span_map::MAP;

/// Large blocks that a heap has released.
pub struct Larges(pub(super) List<ByTime>);

impl Iterator for Larges {
    type Item = *mut Span;

    fn next(&mut self) -> Option<*mut Span> {
        let unit = self.0.first();
        if unit.is_none() {
            return None;
        }
        // SAFETY: the blocks are the holder's of this list.
        unsafe { self.0.remove(unit) };
        Some(MAP.span(unit))
    }
}
