//! The map: where records and units lie. Addresses are made up, and start at 0.

use crate::base::layout::{UNIT, Unit};
use crate::base::sync::process_wide;
use crate::map::record::Span;

/// Units that there are.
pub const UNITS: usize = 5;

/// The map of a process.
pub struct Map {
    spans: *mut Span,
    back: u8,
}

process_wide! {
    /// As in the heap.
    pub static MAP: Map = Map::new();
}

impl Map {
    fn new() -> Map {
        // SAFETY: a record of zeros is valid.
        let spans: Box<[Span]> = (0..UNITS).map(|_| unsafe { std::mem::zeroed() }).collect();
        Map { spans: Box::into_raw(spans).cast(), back: 0 }
    }

    /// As in the heap.
    pub fn span(&self, unit: Unit) -> *mut Span {
        assert!(unit.index() < UNITS);
        self.spans.wrapping_add(unit.index())
    }

    /// As in the heap: all slabs have one unit.
    pub fn back(&self, _: Unit) -> *mut u8 {
        (&raw const self.back).cast_mut()
    }

    /// As in the heap.
    pub fn unit_of_span(&self, span: *const Span) -> Unit {
        Unit::new((span as usize - self.spans as usize) / size_of::<Span>())
    }

    /// As in the heap.
    pub fn unit_of(&self, p: usize) -> Unit {
        Unit::new(p / UNIT)
    }

    /// As in the heap.
    pub fn address_of(&self, unit: Unit) -> usize {
        unit.index() * UNIT
    }

    /// Makes the records what they are in another map, as a fork does.
    pub fn copy_from(&self, spans: *const Span) {
        // SAFETY: both have as many.
        unsafe { std::ptr::copy_nonoverlapping(spans, self.spans, UNITS) };
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: made in `new`; the run is over.
        drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(self.spans, UNITS)) });
    }
}
