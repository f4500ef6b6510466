//! From one span to another: by lists, and from a block to the record of its slab.

use crate::base::layout::Unit;
use crate::base::list::{Linked, Links};
use crate::map::record::{BySort, ByTime, Span};
use crate::map::span_map::MAP;

impl Span {
    /// The record of the slab whose block holds `p`, which must lie in a unit with a front cache's bin.
    #[inline]
    pub fn of_block(p: *const u8) -> *mut Span {
        let unit = MAP.unit_of(p as usize);
        // SAFETY: every unit of a slab says how far its first unit is.
        MAP.span(unit - unsafe { *MAP.back(unit) } as usize)
    }
}

impl Linked for BySort {
    #[inline]
    fn links(member: Unit) -> *mut Links {
        // SAFETY: only the address is computed; records lie in reserved address space.
        unsafe { &raw mut (*MAP.span(member)).sort }
    }
}

impl Linked for ByTime {
    #[inline]
    fn links(member: Unit) -> *mut Links {
        // SAFETY: as above.
        unsafe { &raw mut (*MAP.span(member)).time }
    }
}
