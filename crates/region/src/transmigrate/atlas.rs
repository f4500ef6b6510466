//! Which of the source's chunks an address lies in, where there are many.
//!
//! A large source's chunks are 2 MiB each, and its pointers lead from any to any. So they are entered in a
//! table by address, one entry for each stretch of 256 KiB; entries that fall together replace one another.
//! There is a table only once more chunks were met than a mover remembers anyway.

use core::ptr;

/// A stretch of addresses has so many bytes, as a power of two.
const STRETCH: u32 = 18;
/// Entries: 16 KiB of them, for sources of up to 256 MiB without two that fall together.
const ENTRIES: usize = 1024;

/// Memory whose objects are copied, and their headers overwritten.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) base: u64,
    pub(super) words: u64,
}

impl Place {
    pub(super) const NONE: Place = Place { base: 0, words: 0 };

    /// True for the address of an object there.
    #[inline(always)]
    pub(super) fn holds(self, word: u64) -> bool {
        // Bits below 8 go to the top and make the number too large.
        word.wrapping_sub(self.base).rotate_right(3) < self.words
    }
}

/// Values remembered that stay where they are.
const STAYING: usize = 256;

/// Places by address, and values that stay where they are, such as symbols.
pub(super) struct Atlas {
    /// Null for none.
    table: *mut Table,
}

struct Table {
    places: [Place; ENTRIES],
    /// By address, too; 0 for none.
    staying: [u64; STAYING],
}

impl Atlas {
    pub(super) const fn new() -> Atlas {
        Atlas { table: ptr::null_mut() }
    }

    fn place_of(word: u64) -> usize {
        (word >> STRETCH) as usize % ENTRIES
    }

    fn staying_of(word: u64) -> usize {
        (word >> 4) as usize % STAYING
    }

    /// The place that holds an address, if it is known.
    #[inline(always)]
    pub(super) fn find(&self, word: u64) -> Option<Place> {
        // SAFETY: the table is this atlas's.
        let table = unsafe { self.table.as_ref()? };
        let place = table.places[Atlas::place_of(word)];
        place.holds(word).then_some(place)
    }

    /// True for a value that is known to stay where it is.
    #[inline(always)]
    pub(super) fn stays(&self, word: u64) -> bool {
        // SAFETY: as in `find`.
        unsafe { self.table.as_ref() }
            .is_some_and(|table| table.staying[Atlas::staying_of(word)] == word)
    }

    /// Takes note of the place that holds an address. Without memory for the table it stays unknown.
    pub(super) fn enter(&mut self, word: u64, place: Place) {
        if self.table.is_null() {
            // Zero bytes are `Place::NONE`, and no values.
            self.table = allod_heap::malloc_zeroed(size_of::<Table>()).cast();
        }
        // SAFETY: as in `find`.
        if let Some(table) = unsafe { self.table.as_mut() } {
            table.places[Atlas::place_of(word)] = place;
        }
    }

    /// Takes note of a value that stays where it is, if there is a table.
    pub(super) fn enter_staying(&mut self, word: u64) {
        // SAFETY: as in `find`.
        if let Some(table) = unsafe { self.table.as_mut() } {
            table.staying[Atlas::staying_of(word)] = word;
        }
    }
}

impl Drop for Atlas {
    fn drop(&mut self) {
        if !self.table.is_null() {
            // SAFETY: the table came from the heap, and nobody else has it.
            unsafe { allod_heap::free(self.table.cast()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_holds_the_words_in_it_and_nothing_else() {
        let place = Place { base: 0x10_0000, words: 4 };
        for (word, held) in [(0, true), (8, true), (24, true), (32, false), (4, false), (1, false)]
        {
            assert_eq!(place.holds(0x10_0000 + word), held, "{word}");
        }
        assert!(!place.holds(0x10_0000 - 8) && !place.holds(0) && !Place::NONE.holds(0));
    }

    #[test]
    fn places_are_found_by_any_address_they_were_entered_for_until_another_takes_their_entry() {
        let (stretch, around) = (1 << STRETCH, (ENTRIES as u64) << STRETCH);
        let place = Place { base: 8 * stretch, words: stretch / 4 };
        let mut atlas = Atlas::new();
        assert!(atlas.find(place.base).is_none());
        atlas.enter(place.base, place);
        assert_eq!(atlas.find(place.base + 8).map(|p| p.base), Some(place.base));
        assert!(atlas.find(place.base + stretch).is_none(), "not met in this stretch yet");
        atlas.enter(place.base + stretch, place);
        assert_eq!(atlas.find(place.base + stretch).map(|p| p.base), Some(place.base));
        assert!(atlas.find(place.base + around).is_none());
        atlas.enter(place.base + around, Place { base: place.base + around, words: 1 });
        assert!(atlas.find(place.base).is_none(), "replaced");
    }

    #[test]
    fn values_that_stay_are_known_once_there_is_a_table() {
        let mut atlas = Atlas::new();
        atlas.enter_staying(64);
        assert!(!atlas.stays(64));
        atlas.enter(1 << 30, Place { base: 1 << 30, words: 1 });
        assert!(!atlas.stays(64));
        atlas.enter_staying(64);
        assert!(atlas.stays(64) && !atlas.stays(80) && !atlas.stays(64 + (16 * STAYING as u64)));
    }
}
