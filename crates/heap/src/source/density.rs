//! How densely memory is used: how much of the samples that a [policy](super::huge) took is resident.

use crate::base::layout::{PIECE, UNIT, Unit};
use crate::map::bin::{Bin, FREE};
use crate::map::span_map::MAP;
use crate::source::huge::{Samples, is_huge};
use allod_os::vm;

/// The fewest units in use in the samples from which anything is concluded: 1 MiB.
const LEAST_SAMPLED: usize = PIECE / 2;

/// True when most of the samples' memory in use is resident.
///
/// It may be freed, and given back, at the same moment, and counts as not resident then.
pub fn are_dense(samples: &Samples) -> bool {
    let mut density = Density::default();
    for &piece in samples.iter().filter(|piece| !piece.is_none() && !is_huge(**piece)) {
        let mut answers = [0; vm::PAGES_ASKED];
        // SAFETY: the piece was opened, and stays mapped.
        let told = unsafe { vm::residency(MAP.address_of(piece), PIECE * UNIT, &mut answers) };
        let units = told.chunks(told.len().div_ceil(PIECE).max(1)).enumerate();
        density.add(units.map(|(unit, answers)| {
            let resident = answers.iter().filter(|&&answer| answer & 1 == 1).count();
            (Use::of(piece + unit), answers.len(), resident)
        }));
    }
    density.units >= LEAST_SAMPLED && density.resident * 4 >= density.pages * 3
}

/// What a unit is used for, as far as density is concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Free,
    /// Blocks of the class of this bin.
    Blocks(*mut Bin),
    /// A span with one user.
    Whole,
}

impl Use {
    fn of(unit: Unit) -> Use {
        match MAP.bin_of(MAP.address_of(unit) as *const u8) {
            Some(bin) if bin == FREE.entry() => Use::Free,
            Some(bin) if MAP.is_front_cache(bin) => Use::Blocks(bin),
            Some(_) => Use::Whole,
            None => Use::Free,
        }
    }
}

/// How much of some pieces is in use, and how much of that is resident.
#[derive(Default)]
struct Density {
    units: usize,
    pages: usize,
    resident: usize,
}

impl Density {
    /// Adds the units of a piece: what each is used for, how many pages it has, and how many are resident.
    ///
    /// A slab hands out its blocks from the lowest on, so the end of one that nobody has touched is not in
    /// use yet. If it counted, slabs of large blocks would look sparse while they are filled.
    fn add(&mut self, units: impl Iterator<Item = (Use, usize, usize)>) {
        let mut untouched = Density::default();
        let mut last = Use::Free;
        for (used, pages, resident) in units {
            if used != last {
                untouched = Density::default();
                last = used;
            }
            untouched.units += 1;
            untouched.pages += pages;
            untouched.resident += resident;
            let counts = match used {
                Use::Free => false,
                Use::Blocks(_) => resident > 0,
                Use::Whole => true,
            };
            if counts {
                self.units += untouched.units;
                self.pages += untouched.pages;
                self.resident += untouched.resident;
                untouched = Density::default();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: usize = 16;

    /// Resident pages of the units that count, and how many units those are.
    fn density(units: &[(Use, usize)]) -> (usize, usize) {
        let mut density = Density::default();
        density.add(units.iter().map(|&(used, resident)| (used, PAGES, resident)));
        assert_eq!(density.pages, density.units * PAGES);
        (density.resident, density.units)
    }

    #[test]
    fn the_untouched_end_of_a_slab_does_not_count() {
        let blocks = |bin: usize| Use::Blocks(bin as *mut Bin);
        assert_eq!(density(&[(blocks(1), PAGES), (blocks(1), 0), (blocks(1), 0)]), (PAGES, 1));
        // Another slab begins, or a block, or what is free.
        assert_eq!(density(&[(blocks(1), 0), (blocks(2), 8), (blocks(2), 0)]), (8, 1));
        assert_eq!(density(&[(blocks(1), 1), (blocks(1), 0), (Use::Whole, 0)]), (1, 2));
        assert_eq!(density(&[(blocks(1), 0), (Use::Free, 0), (blocks(1), 3)]), (3, 1));
    }

    #[test]
    fn what_is_untouched_between_or_in_a_whole_span_counts() {
        let blocks = Use::Blocks(core::ptr::dangling_mut());
        assert_eq!(density(&[(blocks, 1), (blocks, 0), (blocks, 0), (blocks, 1)]), (2, 4));
        assert_eq!(density(&[(Use::Whole, PAGES), (Use::Whole, 0), (Use::Whole, 0)]), (PAGES, 3));
    }
}
