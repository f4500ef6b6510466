//! The few numbers that fix how addresses are cut up.

/// log2 of the unit, the grain of the span map.
pub const UNIT_SHIFT: u32 = 16;
/// The unit: every span is a whole number of these 64 KiB pieces and starts on one.
pub const UNIT: usize = 1 << UNIT_SHIFT;
/// log2 of the address space the heap may manage where nothing limits it (1 TiB).
pub const WINDOW_SHIFT: u32 = 40;
/// Bytes of the span map in front of the first unit: one word for each unit of the largest window.
pub const MAP_BYTES: usize = (1 << (WINDOW_SHIFT - UNIT_SHIFT)) * 8;
/// The largest size any allocation may have, as in C: objects do not exceed `PTRDIFF_MAX`.
pub const MAX_SIZE: usize = isize::MAX as usize;
/// Alignment of every block, `alignof(max_align_t)` on all supported machines.
pub const MIN_ALIGN: usize = 16;

/// Whole units that hold `bytes`.
#[inline]
pub const fn units_for(bytes: usize) -> usize {
    bytes.div_ceil(UNIT)
}
