//! Which objects have been copied, and where to: a bitmap and a table for each chunk they lie in.
//!
//! ```text
//!  chunk or inline buffer:  │ object │ object │ …      bits:  one for each 8 bytes, zero at first
//!                                                      words: one for each 8 bytes, never cleared
//! ```
//! A word means something only where its bit is set, so the words need no clearing and only as much
//! of them is touched as there are objects.

use super::atlas::Place;
use crate::base::scratch::{Full, Map};
use core::ptr;

/// The memory of one chunk, or of one control block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub base: usize,
    pub len: usize,
    bits: *mut u64,
    words: *mut u64,
}

impl Extent {
    pub(crate) const NONE: Extent =
        Extent { base: 0, len: 0, bits: ptr::null_mut(), words: ptr::null_mut() };

    /// Memory without tables.
    pub(crate) const fn plain(base: usize, len: usize) -> Extent {
        Extent { base, len, ..Extent::NONE }
    }

    /// A place without tables.
    #[inline(always)]
    pub(super) fn of(place: Place) -> Extent {
        Extent::plain(place.base as usize, 8 * place.words as usize)
    }

    /// Its place, if it has no tables.
    #[inline(always)]
    pub(super) fn place(&self) -> Place {
        match self.is_tabled() {
            true => Place::NONE,
            false => Place { base: self.base as u64, words: self.len as u64 / 8 },
        }
    }

    #[inline(always)]
    pub(crate) fn holds(&self, p: *const u64) -> bool {
        (p as usize).wrapping_sub(self.base) < self.len
    }

    /// True for memory with tables.
    #[inline(always)]
    pub(crate) fn is_tabled(&self) -> bool {
        !self.bits.is_null()
    }

    #[inline(always)]
    fn at(&self, p: *const u64) -> (*mut u64, u64, usize) {
        let i = (p as usize - self.base) / 8;
        (self.bits.wrapping_add(i / 64), 1 << (i % 64), i)
    }

    /// The word kept for a marked object.
    #[inline(always)]
    pub(crate) fn word(&self, p: *const u64) -> Option<u64> {
        let (word, bit, i) = self.at(p);
        // SAFETY: the caller's object lies in this memory, which has tables; words of marked objects are written.
        unsafe { (*word & bit != 0).then(|| *self.words.add(i)) }
    }

    /// Marks an object and keeps a word for it.
    #[inline(always)]
    pub(crate) fn set_word(&self, p: *const u64, value: u64) {
        let (word, bit, i) = self.at(p);
        // SAFETY: as in `word`.
        unsafe {
            *word |= bit;
            *self.words.add(i) = value;
        }
    }
}

/// All memory that an operation has met.
pub(crate) struct Visited {
    extents: Map<Extent>,
}

impl Visited {
    /// Nothing met.
    pub(crate) const fn new() -> Visited {
        Visited { extents: Map::new() }
    }

    /// The tables of the memory at `base`.
    pub(crate) fn extent(&mut self, base: usize, len: usize) -> Result<Extent, Full> {
        if let Some(found) = self.extents.get(base as u64) {
            return Ok(found);
        }
        let bits: *mut u64 = allod_heap::malloc_zeroed(len.div_ceil(512) * 8).cast();
        let words: *mut u64 = allod_heap::malloc(len).cast();
        let new = Extent { base, len, bits, words };
        let failed = bits.is_null() || words.is_null();
        if failed || self.extents.insert(base as u64, new).is_err() {
            new.free();
            return Err(Full);
        }
        Ok(new)
    }
}

impl Extent {
    fn free(&self) {
        // SAFETY: the tables came from the heap, or are null; each extent is freed once.
        unsafe {
            allod_heap::free(self.bits.cast());
            allod_heap::free(self.words.cast());
        }
    }
}

impl Drop for Visited {
    fn drop(&mut self) {
        self.extents.each(|_, extent| extent.free());
    }
}
