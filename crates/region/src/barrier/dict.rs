//! Dictionaries change through the barrier.

use crate::barrier::store::{admit, admit_all, writable};
use crate::base::error::Error;
use crate::data::table::{Table, find, hash_of, normal};
use crate::data::value::Raw;
use crate::memory::slots::region_of;
use crate::objects::dict::put_new;

/// Sets the value of a key, through the barrier: what does not outlive the dictionary is copied to its
/// region.
///
/// # Errors
/// [`Error::NotAKey`], [`Error::OutOfMemory`], [`Error::Frozen`], [`Error::WrongType`] for the empty value, or [`Error::OutsideRegion`] when the
/// dictionary lies in no region and would grow or hold what lies in one; it is unchanged then.
///
/// # Safety
/// `dict` is a live dictionary, key and value are alive; the calling thread owns their regions.
pub unsafe fn set(dict: *mut u64, key: Raw, value: Raw) -> Result<(), Error> {
    // SAFETY: the caller's contract.
    unsafe {
        let key = normal(key);
        let hash = hash_of(key).ok_or(Error::NotAKey)?;
        let r = region_of(dict.cast());
        writable(r)?;
        // Most likely what a failed constructor gave. It would be an entry that is not found.
        if value.is_empty() {
            return Err(Error::WrongType);
        }
        if let Some(i) = find(Table::of(dict), key, hash) {
            *Table::of(dict).key(i).add(1) = admit(r, value)?;
            return Ok(());
        }
        let mut entry = [key, value];
        admit_all(r, &mut entry)?;
        put_new(r, dict, entry[0], entry[1], hash)
    }
}

/// Removes a key and returns its value.
///
/// # Errors
/// [`Error::Frozen`].
///
/// # Safety
/// As for [`set`].
pub unsafe fn remove(dict: *mut u64, key: Raw) -> Result<Option<Raw>, Error> {
    // SAFETY: the caller's contract.
    unsafe {
        writable(region_of(dict.cast()))?;
        let t = Table::of(dict);
        let key = normal(key);
        let Some(i) = hash_of(key).and_then(|hash| find(t, key, hash)) else { return Ok(None) };
        let value = *t.key(i).add(1);
        *t.key(i) = Raw(0);
        *t.key(i).add(1) = Raw(0);
        t.set_live(t.live() - 1);
        Ok(Some(value))
    }
}
