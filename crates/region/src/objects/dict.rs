//! Dictionaries under construction, and those that grow.

use crate::base::error::Error;
use crate::data::ids;
use crate::data::table::{
    MAX_ENTRIES, Table, append, find, hash_of, init_table, normal, rehash, table_size,
};
use crate::data::value::{Header, Raw};
use crate::memory::bump::bump;
use crate::memory::control::Control;
use core::ptr;

/// A dictionary with room for `capacity` entries: one allocation. Empty value when memory is out.
///
/// # Safety
/// As for [`bump`].
#[inline]
pub unsafe fn new(r: *mut Control, capacity: usize) -> Raw {
    if capacity > MAX_ENTRIES {
        return Raw(0);
    }
    let capacity = capacity.max(4);
    // SAFETY: the caller's contract; the size is that of both objects.
    unsafe {
        let p: *mut u64 = bump(r, 16 + table_size(capacity)).cast();
        if !p.is_null() {
            let table = p.add(2);
            init_table(table, capacity);
            *p = Header::fixed(ids::DICT).0;
            *p.add(1) = table as u64;
        }
        Raw::object(p)
    }
}

/// Adds an entry whose key is not there.
#[inline]
pub(crate) unsafe fn put_new(
    r: *mut Control,
    dict: *mut u64,
    key: Raw,
    value: Raw,
    hash: u64,
) -> Result<(), Error> {
    // SAFETY: the callers' contract.
    unsafe {
        let mut t = Table::of(dict);
        if t.used() == t.capacity() {
            t = roomy(r, t)?;
            *dict.add(1) = t.0 as u64;
        }
        append(t, key, value, hash);
        Ok(())
    }
}

/// Sets in a dictionary under construction, whose entries are known to outlive it.
///
/// # Safety
/// As for [`set`]; `r` is the dictionary's region, and key and value outlive it.
pub(crate) unsafe fn set_admitted(
    r: *mut Control,
    dict: *mut u64,
    key: Raw,
    value: Raw,
) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    unsafe {
        let key = normal(key);
        let hash = hash_of(key).ok_or(Error::NotAKey)?;
        match find(Table::of(dict), key, hash) {
            Some(i) => {
                *Table::of(dict).key(i).add(1) = value;
                Ok(())
            }
            None => put_new(r, dict, key, value, hash),
        }
    }
}

/// The table with room for another entry: itself without the places of removed entries, when those are
/// half of all, otherwise one of twice the capacity.
#[cold]
unsafe fn roomy(r: *mut Control, old: Table) -> Result<Table, Error> {
    // SAFETY: the callers' table and region.
    unsafe {
        if old.live() <= old.capacity() / 2 {
            ptr::write_bytes(old.index(), 0, old.index_len());
            rehash(old, old);
            return Ok(old);
        }
        if r.is_null() {
            return Err(Error::OutsideRegion);
        }
        let capacity = 2 * old.capacity();
        if capacity > MAX_ENTRIES {
            return Err(Error::OutOfMemory);
        }
        let p: *mut u64 = bump(r, table_size(capacity)).cast();
        if p.is_null() {
            return Err(Error::OutOfMemory);
        }
        let new = init_table(p, capacity);
        rehash(old, new);
        Ok(new)
    }
}
