//! Size classes: which block sizes exist, and which one a request gets.
//!
//! Up to 128 bytes every multiple of 16; above, eight equal steps in each doubling up to 1 MiB, so
//! that no request above 128 bytes wastes more than 12.5 %. Larger requests get spans of their own.
//!
//! A request of size 0 has a class of its own ([`Class::ZERO`]).
//!
//! Blocks lie at multiples of the largest power of two that divides their size, up to a unit.
//! Classes are grouped in **bands** for experiments: B0 ≤ 32, B1 ≤ 64, … B7 ≤ 4096 bytes.

use crate::base::hardening::{DOUBLINGS, GUARD};
use crate::base::layout::{UNIT, UNIT_SHIFT, Unit, units_for};

/// Size classes for blocks of at least one byte.
const SIZES: usize = 8 + 8 * DOUBLINGS;
/// Number of size classes; the last is for blocks of size 0.
pub const CLASSES: usize = SIZES + 1;
/// Requests up to this size find their class in a table.
pub const SMALL_LIMIT: usize = 4096;
/// The largest class; larger requests are large blocks.
pub const MEDIUM_LIMIT: usize = 128 << DOUBLINGS;
/// Entries in the table of small requests, one for each 16 bytes.
pub const SMALL_ENTRIES: usize = SMALL_LIMIT / 16 + 1;
/// Classes above this size have slabs of many units.
const LONG_SLABS_FROM: usize = 32 * 1024;
/// Classes above this size have caches of two blocks: few such blocks are in use at once, in many sizes.
const FEW_FROM: usize = 512 * 1024;
/// Units in the longest slab.
pub const MOST_UNITS: usize = 64;
/// Blocks in a slab at most, one bit each.
pub const MOST_BLOCKS: usize = 4096;
/// log2 of the numerator of [`ClassInfo::reciprocal`].
pub const RECIPROCAL_SHIFT: u32 = 44;

/// A size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Class(u8);

impl Class {
    /// The class of requests of size 0. Its slabs are not accessible: a block is 16 addresses that nobody
    /// else has, and any read or write there faults.
    pub const ZERO: Class = Class(SIZES as u8);

    /// The class that serves a request of `size` bytes (at most [`MEDIUM_LIMIT`]).
    #[inline]
    pub const fn of(size: usize) -> Class {
        Class(class_of(size) as u8)
    }

    /// The class whose blocks all lie at multiples of `align`, a power of two, and hold `size`
    /// bytes. `None` when there is none.
    #[inline]
    pub const fn aligned(align: usize, size: usize) -> Option<Class> {
        match aligned_class(align, size) {
            Some(class) => Some(Class(class as u8)),
            None => None,
        }
    }

    /// The class with a number below [`CLASSES`].
    #[inline]
    pub const fn new(index: usize) -> Class {
        debug_assert!(index < CLASSES);
        Class(index as u8)
    }

    /// Its number.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Its constants.
    #[inline]
    pub fn info(self) -> &'static ClassInfo {
        &INFO[self.index()]
    }

    /// Its block size in bytes.
    #[inline]
    pub fn size(self) -> usize {
        self.info().size as usize
    }

    /// The bytes that a program may use of its blocks.
    #[inline]
    pub fn usable(self) -> usize {
        if self == Class::ZERO { 0 } else { self.size() }
    }

    /// The [usable](Class::usable) bytes of the class that serves a request of `size` bytes (at most
    /// [`MEDIUM_LIMIT`]), without the table of classes.
    #[cfg(feature = "hardened")]
    #[inline]
    pub const fn room_for(size: usize) -> usize {
        // Of the doubling that the size lies in, an eighth, and 16 at least. No bytes are 2^60 short of a block.
        let step = 1usize << ((size.wrapping_sub(1) | 128).ilog2() - 3);
        (size + step - 1) & !(step - 1)
    }

    /// Its band: 0–7 for B0–B7, 8 above 4096 bytes.
    pub const fn band(self) -> usize {
        band_of_size(size_of_class(self.index()))
    }

    /// All classes, from the smallest blocks to the largest.
    pub fn all() -> impl Iterator<Item = Class> {
        (0..CLASSES).map(Class::new)
    }
}

/// The block size of a class in bytes.
const fn size_of_class(class: usize) -> usize {
    if class < 8 {
        return (class + 1) * 16;
    }
    if class == SIZES {
        return 16;
    }
    let (doubling, step) = ((class - 8) / 8, (class - 8) % 8);
    (128 << doubling) + (step + 1) * (16 << doubling)
}

#[inline]
const fn class_of(size: usize) -> usize {
    if size <= 128 {
        return if size == 0 { SIZES } else { (size - 1) / 16 };
    }
    let last = size - 1;
    let e = last.ilog2() as usize;
    8 + (e - 7) * 8 + ((last >> (e - 3)) & 7)
}

#[inline]
const fn aligned_class(align: usize, size: usize) -> Option<usize> {
    if align > UNIT || size > MEDIUM_LIMIT {
        return None;
    }
    let size = if size == 0 { align } else { size.next_multiple_of(align) };
    if size > MEDIUM_LIMIT {
        return None;
    }
    let mut class = class_of(size);
    // A doubling ends with a power of two, so at most seven steps; the last class is one.
    while INFO_CONST[class].size as usize & (align - 1) != 0 {
        class += 1;
    }
    Some(class)
}

const fn band_of_size(size: usize) -> usize {
    if size <= 32 {
        return 0;
    }
    let band = (size - 1).ilog2() as usize - 4;
    if band > 8 { 8 } else { band }
}

/// The constants of a class: its slabs and its front cache.
#[derive(Clone, Copy, Debug)]
pub struct ClassInfo {
    /// Block size in bytes.
    pub size: u32,
    /// Units in the first slab of a heap.
    pub least_units: u8,
    /// Units in a slab of a heap that uses many blocks of the class.
    pub most_units: u8,
    /// Blocks the front cache holds at first.
    pub first_cap: u16,
    /// Blocks the front cache may grow to.
    pub max_cap: u16,
    /// ⌈2^44 / size⌉, to divide an offset by the size with a multiplication.
    pub reciprocal: u64,
}

const fn clamp(x: usize, low: usize, high: usize) -> usize {
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}

/// Bytes for blocks in a slab of `units` units.
const fn room_in(units: usize) -> usize {
    units * UNIT - GUARD
}

/// Units of the shortest slab that leaves at most an eighth of itself unused.
const fn least_units(size: usize) -> usize {
    if size <= LONG_SLABS_FROM {
        let units = clamp(size / 8192, 1, 4);
        return if units == 3 { 4 } else { units };
    }
    let mut units = units_for(size + GUARD);
    while units < 16 && room_in(units) % size * 8 > units * UNIT {
        units += 1;
    }
    units
}

/// Units of the longest slab: about a dozen blocks, so that slabs are rarely made and given up.
const fn most_units(size: usize) -> usize {
    if size <= 1024 {
        return least_units(size);
    }
    let most = if size <= LONG_SLABS_FROM { 16 } else { MOST_UNITS };
    clamp((size * 48 / UNIT).next_power_of_two(), least_units(size), most)
}

const fn info(class: usize) -> ClassInfo {
    let size = size_of_class(class);
    let (first_cap, max_cap) = if size > FEW_FROM {
        (1, 2)
    } else if size > 128 * 1024 {
        (1, 8)
    } else if size > LONG_SLABS_FROM {
        (1, 16)
    } else {
        (clamp(32 * 1024 / size, 2, 64), clamp(1024 * 1024 / size, 8, 2048))
    };
    ClassInfo {
        size: size as u32,
        least_units: least_units(size) as u8,
        most_units: most_units(size) as u8,
        first_cap: first_cap as u16,
        max_cap: max_cap as u16,
        reciprocal: (1u64 << RECIPROCAL_SHIFT).div_ceil(size as u64),
    }
}

impl ClassInfo {
    /// Blocks in a slab of `units` units.
    #[inline]
    pub const fn blocks_in(&self, units: usize) -> usize {
        let (size, room) = (self.size as usize, room_in(units));
        let blocks = room / size;
        // Powers of two leave no room for colours: give up 512 bytes (0.8 %) for them.
        if size <= 512 && room - blocks * size < 512 { (room - 512) / size } else { blocks }
    }

    /// The offset of a slab's first block. It depends on the slab's address and is spread over the slab's slack,
    /// so that slabs do not all compete for the same cache sets, and so that a slab at the same address always
    /// has its blocks in the same pages.
    #[inline]
    pub const fn colour(&self, unit: Unit, units: usize, blocks: usize) -> usize {
        let slack = room_in(units) - blocks * self.size as usize;
        let step = clamp(1 << self.size.trailing_zeros(), 64, UNIT);
        let colours = clamp(slack / step + 1, 1, 64);
        // Neighbouring slabs get colours far apart (golden ratio).
        (unit.number().wrapping_mul(0x9E37_79B9) >> UNIT_SHIFT) as usize % colours * step
    }
}

/// The table of classes, for computing with at compile time.
pub const INFO_CONST: [ClassInfo; CLASSES] = {
    let mut table = [info(0); CLASSES];
    let mut i = 0;
    while i < CLASSES {
        table[i] = info(i);
        i += 1;
    }
    table
};

/// The table of classes.
pub static INFO: [ClassInfo; CLASSES] = INFO_CONST;

/// The bytes that a request of `size` bytes actually gets; `size` itself above `PTRDIFF_MAX`.
///
/// ```
/// assert_eq!(allod_heap::good_size(1), 16);
/// assert_eq!(allod_heap::good_size(129), 144);
/// ```
pub fn good_size(size: usize) -> usize {
    if size <= MEDIUM_LIMIT {
        return Class::of(size).usable();
    }
    let page = allod_os::vm::page_size();
    size.checked_next_multiple_of(page).unwrap_or(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(i: &ClassInfo) -> core::ops::RangeInclusive<usize> {
        i.least_units as usize..=i.most_units as usize
    }

    #[test]
    fn every_request_fits_its_class_and_no_smaller_one() {
        assert_eq!(Class::of(0), Class::ZERO);
        for size in 1..=MEDIUM_LIMIT {
            let c = class_of(size);
            assert!(size <= size_of_class(c), "{size} in class {c}");
            assert!(c == 0 || size > size_of_class(c - 1), "{size} in class {c}");
        }
        assert_eq!(class_of(MEDIUM_LIMIT), SIZES - 1);
    }

    #[cfg(feature = "hardened")]
    #[test]
    fn the_room_for_a_request_is_that_of_its_class() {
        for size in 0..=MEDIUM_LIMIT {
            assert_eq!(Class::room_for(size), Class::of(size).usable(), "{size}");
        }
    }

    #[test]
    fn waste_above_128_bytes_stays_within_an_eighth() {
        for size in 129..=MEDIUM_LIMIT {
            let waste = size_of_class(class_of(size)) - size;
            assert!(waste * 8 <= size, "{size} wastes {waste}");
        }
    }

    #[test]
    fn bands_are_those_of_the_published_tables() {
        for (size, band) in [(32, 0), (33, 1), (64, 1), (65, 2), (129, 3), (512, 4), (513, 5)] {
            assert_eq!(Class::of(size).band(), band, "{size}");
        }
        assert_eq!(Class::of(2048).band(), 6);
        assert_eq!(Class::of(4096).band(), 7);
        assert_eq!(Class::of(4097).band(), 8);
    }

    #[test]
    fn division_by_reciprocal_is_exact_over_a_slab() {
        for i in INFO.iter() {
            let size = u64::from(i.size);
            // The quotient is right everywhere if it is right on both sides of each block's start.
            for block in 0..=(u64::from(i.most_units) * UNIT as u64) / size {
                for offset in [block * size, (block * size).saturating_sub(1)] {
                    assert_eq!((offset * i.reciprocal) >> RECIPROCAL_SHIFT, offset / size);
                }
            }
        }
    }

    #[test]
    fn blocks_and_colours_fit_the_slab() {
        for i in INFO.iter() {
            for units in lengths(i) {
                let blocks = i.blocks_in(units);
                assert!((1..=MOST_BLOCKS).contains(&blocks), "{i:?}");
                let most =
                    (0..1000).map(|unit| i.colour(Unit::new(unit), units, blocks)).max().unwrap();
                assert!(most + blocks * i.size as usize <= units * UNIT, "{i:?}");
            }
        }
    }

    #[test]
    fn blocks_lie_at_multiples_of_what_their_class_promises() {
        for align in (4..=16).map(|shift| 1usize << shift) {
            for size in [0, 1, align - 1, align, align + 1, 5000, 70_000, MEDIUM_LIMIT - align] {
                let i = &INFO[aligned_class(align, size).unwrap()];
                assert!(i.size as usize >= size && (i.size as usize).is_multiple_of(align));
                for unit in (0..100).map(Unit::new) {
                    let units = i.least_units as usize;
                    assert_eq!(i.colour(unit, units, i.blocks_in(units)) % align, 0);
                }
            }
        }
        assert_eq!(aligned_class(2 * UNIT, 1), None);
        assert_eq!(aligned_class(4096, MEDIUM_LIMIT + 1), None);
    }
}
