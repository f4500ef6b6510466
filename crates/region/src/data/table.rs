//! Dictionaries that keep the order of insertion.
//!
//! ```text
//!  dict:  │ header │ table │
//!  table: │ header: entries there is room for │ used, live │ index words │ key value key value … │ index … │
//! ```
//! Entries stand in the order of insertion; a removed one leaves an empty key. A full table in which half
//! the places are empty is closed up where it is, so entries that come and go take no more memory. Any
//! other grows: a new table of twice the size in the dictionary's region; the old one goes with the
//! region. The index, for tables of more than eight entries, is an open-addressed array of entry numbers,
//! so a small dictionary is a short array.
//!
//! `allod/region.h` knows this layout: there, get and contains are inlined for immediates and symbols.
//!
//! Keys are immediates, numbers, symbols (by identity), strings and bytes (by content), under the
//! keyed hashes of [`hash`]. Splicing and transmigration leave hashes as they are: no key hashes by an
//! address that can change.

use crate::base::error::Error;
use crate::base::hash;
use crate::data::ids;
use crate::data::read;
use crate::data::record::Visit;
use crate::data::value::{Header, Raw};
use core::ffi::c_void;
use core::ptr;

/// Tables of so many entries or fewer are searched without an index.
const UNINDEXED: usize = 8;
/// Words of a table before its entries.
const HEAD: usize = 3;
pub(crate) const MAX_ENTRIES: usize = 1 << 31;

/// A table, as its words say.
#[derive(Clone, Copy)]
pub(crate) struct Table(pub(crate) *mut u64);

impl Table {
    pub(crate) unsafe fn of(dict: *mut u64) -> Table {
        // SAFETY: a dict's second word is its table.
        Table(unsafe { *dict.add(1) } as *mut u64)
    }

    #[inline(always)]
    pub(crate) unsafe fn capacity(self) -> usize {
        // SAFETY: a table's header says so.
        Header(unsafe { *self.0 }).len()
    }

    /// Entries in use or removed. Read by value: threads may read one frozen dictionary at a time.
    #[inline(always)]
    pub(crate) unsafe fn used(self) -> usize {
        // SAFETY: the low half of the second word.
        unsafe { *self.0.add(1).cast::<u32>() as usize }
    }

    /// Entries in use.
    #[inline(always)]
    pub(crate) unsafe fn live(self) -> usize {
        // SAFETY: the high half of the second word.
        unsafe { *self.0.add(1).cast::<u32>().add(1) as usize }
    }

    #[inline(always)]
    pub(crate) unsafe fn set_used(self, count: usize) {
        // SAFETY: as in `used`; the caller alone uses the table.
        unsafe { *self.0.add(1).cast::<u32>() = count as u32 }
    }

    #[inline(always)]
    pub(crate) unsafe fn set_live(self, count: usize) {
        // SAFETY: as in `live`; the caller alone uses the table.
        unsafe { *self.0.add(1).cast::<u32>().add(1) = count as u32 }
    }

    /// The index's length; 0 without one.
    #[inline(always)]
    pub(crate) unsafe fn index_len(self) -> usize {
        // SAFETY: the third word.
        unsafe { *self.0.add(2) as usize }
    }

    #[inline(always)]
    pub(crate) unsafe fn key(self, i: usize) -> *mut Raw {
        // SAFETY: the caller's entry exists.
        unsafe { self.0.add(HEAD + 2 * i).cast() }
    }

    #[inline(always)]
    pub(crate) unsafe fn index(self) -> *mut u32 {
        // SAFETY: the index follows the entries.
        unsafe { self.0.add(HEAD + 2 * self.capacity()).cast() }
    }
}

fn index_len_for(capacity: usize) -> usize {
    if capacity <= UNINDEXED { 0 } else { (2 * capacity).next_power_of_two() }
}

pub(crate) fn table_size(capacity: usize) -> usize {
    8 * HEAD + 16 * capacity + 4 * index_len_for(capacity)
}

pub(crate) unsafe extern "C" fn table_bytes(table: *const u64) -> usize {
    // SAFETY: called with a table.
    table_size(unsafe { Table(table.cast_mut()).capacity() })
}

pub(crate) unsafe extern "C" fn table_trace(table: *mut u64, visit: Visit, context: *mut c_void) {
    // SAFETY: called with a table.
    unsafe {
        let t = Table(table);
        for i in 0..2 * t.used() {
            visit(context, t.key(0).add(i));
        }
    }
}

/// Writes an empty table to new memory.
pub(crate) unsafe fn init_table(p: *mut u64, capacity: usize) -> Table {
    // SAFETY: the caller's memory has `table_size(capacity)` bytes.
    unsafe {
        *p = Header::with_len(ids::TABLE, capacity).0;
        *p.add(1) = 0;
        *p.add(2) = index_len_for(capacity) as u64;
        let t = Table(p);
        ptr::write_bytes(t.index(), 0, t.index_len());
        t
    }
}

/// A normal key's hash; `None` for what cannot be a key.
#[inline(always)]
pub(crate) unsafe fn hash_of(key: Raw) -> Option<u64> {
    let Some(p) = key.pointer() else {
        return (!key.is_empty()).then(|| hash::word(key.0));
    };
    // SAFETY: the caller's key is alive.
    unsafe {
        match key.type_id() {
            ids::SYMBOL => Some(*p.add(1)),
            ids::INT | ids::FLOAT => Some(hash::word(*p.add(1))),
            ids::STRING | ids::BYTES => Some(hash::text(read::byte_slice(key)?)),
            _ => None,
        }
    }
}

/// True for keys that are the same only if they are identical: immediates and symbols. Integers that
/// fit an immediate are entered as one.
#[inline(always)]
unsafe fn by_identity(key: Raw) -> bool {
    // SAFETY: the caller's key is alive.
    unsafe { key.pointer().is_none() || key.type_id() == ids::SYMBOL }
}

/// The key as it is entered and looked for.
#[inline(always)]
pub(crate) unsafe fn normal(key: Raw) -> Raw {
    // SAFETY: the caller's key is alive.
    match unsafe { key.object_of(ids::INT) } {
        // SAFETY: an Int's second word is its value.
        Some(p) => Raw::small(unsafe { *p.add(1) } as i64).unwrap_or(key),
        None => key,
    }
}

/// Whether a key that has not to be identical has the same content as another: the number, the text,
/// the bytes. Floating-point numbers by their bits: NaN is found, and -0.0 is not 0.0.
unsafe fn same_content(a: Raw, b: Raw) -> bool {
    // SAFETY: the caller's keys are alive; empty ones have the type 0.
    unsafe {
        let (Some(p), Some(q)) = (a.headed(), b.headed()) else { return false };
        let (ta, tb) = (Header(*p).type_id(), Header(*q).type_id());
        ta == tb
            && match ta {
                ids::STRING | ids::BYTES => read::byte_slice(a) == read::byte_slice(b),
                ids::FLOAT | ids::INT => *p.add(1) == *q.add(1),
                _ => false,
            }
    }
}

/// The number of the entry with `key`, which is normal.
#[inline(always)]
pub(crate) unsafe fn find(t: Table, key: Raw, hash: u64) -> Option<usize> {
    // SAFETY: the caller's table and key.
    unsafe {
        if by_identity(key) {
            return search(t, hash, |k| k == key);
        }
        search(t, hash, |k| same_content(k, key))
    }
}

#[inline(always)]
unsafe fn search(t: Table, hash: u64, is: impl Fn(Raw) -> bool) -> Option<usize> {
    // SAFETY: the caller's table; the index has an empty place.
    unsafe {
        if t.index_len() == 0 {
            return (0..t.used()).find(|&i| is(*t.key(i)));
        }
        let (index, mask) = (t.index(), t.index_len() - 1);
        let mut at = hash as usize & mask;
        loop {
            let entry = *index.add(at) as usize;
            if entry == 0 {
                return None;
            }
            if is(*t.key(entry - 1)) {
                return Some(entry - 1);
            }
            at = (at + 1) & mask;
        }
    }
}

/// The value of a key; `None` when there is none or `key` cannot be one.
///
/// # Safety
/// `dict` is a live dictionary, `key` alive.
#[inline]
pub unsafe fn get(dict: *mut u64, key: Raw) -> Option<Raw> {
    // SAFETY: the caller's contract.
    unsafe {
        let t = Table::of(dict);
        let key = normal(key);
        let hash = if t.index_len() == 0 { 0 } else { hash_of(key)? };
        find(t, key, hash).map(|i| *t.key(i).add(1)).filter(|v| !v.is_empty())
    }
}

/// Entries.
///
/// # Safety
/// `dict` is a live dictionary.
#[inline]
pub unsafe fn len(dict: *mut u64) -> usize {
    // SAFETY: the caller's contract.
    unsafe { Table::of(dict).live() }
}

/// The entry at place `i` of the order of insertion, counting removed ones: `Ok(None)` for those.
///
/// # Errors
/// [`Error::OutOfBounds`] past the last place.
///
/// # Safety
/// `dict` is a live dictionary.
#[inline]
pub unsafe fn entry(dict: *mut u64, i: usize) -> Result<Option<(Raw, Raw)>, Error> {
    // SAFETY: the caller's contract; the place exists.
    unsafe {
        let t = Table::of(dict);
        if i >= t.used() {
            return Err(Error::OutOfBounds);
        }
        let k = *t.key(i);
        Ok((!k.is_empty()).then(|| (k, *t.key(i).add(1))))
    }
}

#[inline]
pub(crate) unsafe fn append(t: Table, key: Raw, value: Raw, hash: u64) {
    // SAFETY: the callers' table has room.
    unsafe {
        let i = t.used();
        *t.key(i) = key;
        *t.key(i).add(1) = value;
        t.set_used(i + 1);
        t.set_live(t.live() + 1);
        if t.index_len() == 0 {
            return;
        }
        let (index, mask) = (t.index(), t.index_len() - 1);
        let mut at = hash as usize & mask;
        while *index.add(at) != 0 {
            at = (at + 1) & mask;
        }
        *index.add(at) = i as u32 + 1;
    }
}

/// Enters the entries of `old` in `new`, which may be the same with an empty index: entries move to
/// the front only.
pub(crate) unsafe fn rehash(old: Table, new: Table) {
    // SAFETY: the callers' tables have the room.
    unsafe {
        let used = old.used();
        new.set_used(0);
        new.set_live(0);
        for i in 0..used {
            let (key, value) = (*old.key(i), *old.key(i).add(1));
            if !key.is_empty() {
                append(new, key, value, hash_of(key).unwrap_or(0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_of_one_table_get_numbers_and_no_references() {
        // Threads that read one frozen dictionary would otherwise hold two `&mut` to one place.
        let of_table: [unsafe fn(Table) -> usize; 4] =
            [Table::capacity, Table::used, Table::live, Table::index_len];
        let mut words = [0u64; HEAD + 2 * 4];
        // SAFETY: the words have room for a table of four entries.
        let counts = unsafe {
            let t = init_table(words.as_mut_ptr(), 4);
            append(t, Raw::TRUE, Raw::NIL, 0);
            append(t, Raw::FALSE, Raw::NIL, 0);
            t.set_live(1);
            of_table.map(|count| count(t))
        };
        assert_eq!(counts, [4, 2, 1, 0]);
    }
}
