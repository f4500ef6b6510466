//! The few constants that define how the address space is divided.

use core::ops::{Add, Sub};

/// log2 of the unit, the granularity of the span map.
pub const UNIT_SHIFT: u32 = 16;
/// The unit: every span is a whole number of these 64 KiB pieces and starts on one.
pub const UNIT: usize = 1 << UNIT_SHIFT;
/// log2 of the most address space that the heap can manage (16 TiB).
pub const WINDOW_SHIFT: u32 = 44;
/// log2 of the address space that is reserved at a time where nothing limits it (1 TiB).
pub const RESERVE_SHIFT: u32 = 40;
/// Bytes of the span map in front of the first unit: one word for each unit of the largest window.
/// An instruction can subtract no more (2 GiB) from an address.
pub const MAP_BYTES: usize = (1 << (WINDOW_SHIFT - UNIT_SHIFT)) * 8;
/// The largest size any allocation may have, as in C: objects do not exceed `PTRDIFF_MAX`.
pub const MAX_SIZE: usize = isize::MAX as usize;
/// Alignment of every block, `alignof(max_align_t)` on all supported machines.
pub const MIN_ALIGN: usize = 16;
/// Units in a huge page, 2 MiB: the granularity at which free runs are given back.
pub const PIECE: usize = 32;

/// The number of a unit. No span starts at unit 0, so 0 is [`Unit::NONE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Unit(u32);

impl Unit {
    /// No unit.
    pub const NONE: Unit = Unit(0);

    /// The unit with this number.
    #[inline]
    pub const fn new(number: usize) -> Unit {
        Unit(number as u32)
    }

    /// Its number.
    #[inline]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Its number, to index with.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// True for [`Unit::NONE`].
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl Add<usize> for Unit {
    type Output = Unit;

    #[inline]
    fn add(self, units: usize) -> Unit {
        Unit(self.0 + units as u32)
    }
}

impl Sub<usize> for Unit {
    type Output = Unit;

    #[inline]
    fn sub(self, units: usize) -> Unit {
        Unit(self.0 - units as u32)
    }
}

impl Sub<Unit> for Unit {
    type Output = usize;

    #[inline]
    fn sub(self, other: Unit) -> usize {
        (self.0 - other.0) as usize
    }
}

/// Whole units that hold `bytes`.
#[inline]
pub const fn units_for(bytes: usize) -> usize {
    bytes.div_ceil(UNIT)
}

const _: () = assert!(MAP_BYTES <= 1 << 31);
