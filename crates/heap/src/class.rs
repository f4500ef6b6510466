//! Size classes: which block sizes exist, and which one a request gets.
//!
//! Up to 128 bytes every multiple of 16; above, eight equal steps in each doubling up to 32 KiB,
//! so that no request above 128 bytes wastes more than 12.5 %; then four steps in each doubling up
//! to 1 MiB, where the unused tail of a block is never touched and so costs no memory. Larger
//! requests get spans of their own.
//!
//! Classes are grouped in **bands** for experiments: B0 ≤ 32, B1 ≤ 64, … B7 ≤ 4096 bytes.

use crate::layout::{UNIT, units_for};

/// Number of size classes.
pub const CLASSES: usize = FINE + 20;
/// Classes up to [`FINE_LIMIT`], eight to a doubling.
const FINE: usize = 8 + 64;
/// Requests up to this size find their class in a table.
pub const SMALL_LIMIT: usize = 4096;
/// Requests up to this size share slabs of many blocks; above, a block has a span of its own.
pub const FINE_LIMIT: usize = 32 * 1024;
/// The largest class; larger requests are large blocks.
pub const MEDIUM_LIMIT: usize = 1024 * 1024;
/// Entries in the table of small requests, one for each 16 bytes.
pub const SMALL_ENTRIES: usize = SMALL_LIMIT / 16 + 1;

/// The block size of a class in bytes.
pub const fn size_of_class(class: usize) -> usize {
    if class < 8 {
        return (class + 1) * 16;
    }
    if class < FINE {
        let (doubling, step) = ((class - 8) / 8, (class - 8) % 8);
        return (128 << doubling) + (step + 1) * (16 << doubling);
    }
    let (doubling, step) = ((class - FINE) / 4, (class - FINE) % 4);
    (FINE_LIMIT << doubling) + (step + 1) * ((FINE_LIMIT / 4) << doubling)
}

/// The class that serves a request of `size` bytes (at most [`MEDIUM_LIMIT`]).
#[inline]
pub const fn class_of(size: usize) -> usize {
    if size <= 128 {
        return if size == 0 { 0 } else { (size - 1) / 16 };
    }
    let last = size - 1;
    let e = last.ilog2() as usize;
    if size <= FINE_LIMIT {
        8 + (e - 7) * 8 + ((last >> (e - 3)) & 7)
    } else {
        FINE + (e - 15) * 4 + ((last >> (e - 2)) & 3)
    }
}

/// The band of a class: 0–7 for B0–B7, 8 above 4096 bytes.
pub const fn band_of_class(class: usize) -> usize {
    let size = size_of_class(class);
    if size <= 32 {
        return 0;
    }
    let band = (size - 1).ilog2() as usize - 4;
    if band > 8 { 8 } else { band }
}

/// What is fixed about the slabs and the front cache of a class.
#[derive(Clone, Copy, Debug)]
pub struct ClassInfo {
    /// Block size in bytes.
    pub size: u32,
    /// Units in a slab.
    pub units: u16,
    /// Blocks in a slab, at most 4096.
    pub blocks: u16,
    /// Step between slab colours in bytes, a multiple of the block's natural alignment.
    pub colour_step: u16,
    /// Number of colours.
    pub colours: u16,
    /// Blocks the front cache holds at first.
    pub first_cap: u16,
    /// Blocks the front cache may grow to.
    pub max_cap: u16,
    /// ⌈2^40 / size⌉, to divide an offset by the size with a multiplication.
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

const fn info(class: usize) -> ClassInfo {
    let size = size_of_class(class);
    let single = size > FINE_LIMIT;
    // A block of its own is moved by whole pages for colour, so that it touches none too many.
    let units = if single { units_for(size + 4032) } else { clamp(size / 8192, 1, 4) };
    let units = if units == 3 { 4 } else { units };
    let room = units * UNIT;
    let mut blocks = if single { 1 } else { room / size };
    // Powers of two leave no room for colours: give up 512 bytes (0.8 %) for them.
    if size <= 512 && room - blocks * size < 512 {
        blocks = (room - 512) / size;
    }
    let natural = clamp(1 << size.trailing_zeros(), 64, 4096);
    let step = if single { 4096 } else { natural };
    ClassInfo {
        size: size as u32,
        units: units as u16,
        blocks: blocks as u16,
        colour_step: step as u16,
        // The start of a block of its own must lie in its span's first unit.
        colours: clamp((room - blocks * size) / step + 1, 1, if single { 16 } else { 64 }) as u16,
        first_cap: if single {
            if size <= 128 * 1024 { 2 } else { 1 }
        } else {
            clamp(32 * 1024 / size, 2, 64) as u16
        },
        max_cap: clamp(1024 * 1024 / size, 8, 2048) as u16,
        reciprocal: (1u64 << 40).div_ceil(size as u64),
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

/// The bytes a request of `size` bytes really gets; `size` itself above `PTRDIFF_MAX`.
///
/// ```
/// assert_eq!(allod_heap::good_size(1), 16);
/// assert_eq!(allod_heap::good_size(129), 144);
/// ```
pub fn good_size(size: usize) -> usize {
    if size <= MEDIUM_LIMIT {
        return size_of_class(class_of(size));
    }
    let page = allod_os::vm::page_size();
    size.checked_next_multiple_of(page).unwrap_or(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_fits_its_class_and_no_smaller_one() {
        for size in 0..=MEDIUM_LIMIT {
            let c = class_of(size);
            assert!(size <= size_of_class(c), "{size} in class {c}");
            assert!(c == 0 || size > size_of_class(c - 1), "{size} in class {c}");
        }
        assert_eq!(class_of(MEDIUM_LIMIT), CLASSES - 1);
    }

    #[test]
    fn waste_above_128_bytes_stays_within_an_eighth() {
        for size in 129..=FINE_LIMIT {
            let waste = size_of_class(class_of(size)) - size;
            assert!(waste * 8 <= size, "{size} wastes {waste}");
        }
    }

    #[test]
    fn bands_are_those_of_the_published_tables() {
        for (size, band) in [(32, 0), (33, 1), (64, 1), (65, 2), (129, 3), (512, 4), (513, 5)] {
            assert_eq!(band_of_class(class_of(size)), band, "{size}");
        }
        assert_eq!(band_of_class(class_of(2048)), 6);
        assert_eq!(band_of_class(class_of(4096)), 7);
        assert_eq!(band_of_class(class_of(4097)), 8);
    }

    #[test]
    fn division_by_reciprocal_is_exact_over_a_slab() {
        for i in INFO.iter() {
            for offset in 0..i.units as u64 * UNIT as u64 {
                assert_eq!((offset * i.reciprocal) >> 40, offset / u64::from(i.size));
            }
        }
    }

    #[test]
    fn blocks_and_colours_fit_the_slab() {
        for i in INFO.iter() {
            let used = i.blocks as usize * i.size as usize
                + (i.colours as usize - 1) * i.colour_step as usize;
            assert!(used <= i.units as usize * UNIT, "{i:?}");
            assert!(i.blocks >= 1 && i.blocks <= 4096, "{i:?}");
            let last_colour = (i.colours as usize - 1) * i.colour_step as usize;
            assert!(last_colour < UNIT, "the first block starts in the first unit: {i:?}");
        }
    }
}
