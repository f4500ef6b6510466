//! Stores, and repairing those that would break the closure rule.

use crate::base::check::{CHECKED, wrong};
use crate::base::error::Error;
use crate::data::value::Raw;
use crate::life::{merge, outlives};
use crate::memory::control::Control;
use crate::memory::slots::region_of;
use crate::transmigrate;

/// Stores a value in a slot of `container` and returns what was stored: the value, or its copy.
///
/// An immediate costs a test; otherwise the two regions are looked up and compared.
///
/// # Errors
/// [`Error::Frozen`], [`Error::OutOfMemory`] in a repair, or [`Error::OutsideRegion`] when the container
/// lies in no region and the value in one; the slot is unchanged then. A store of an immediate into a
/// frozen region is undefined; checked builds report it.
///
/// # Safety
/// `slot` is a slot of the live object `container`; the value is alive; the calling thread owns both
/// regions, or the value's is frozen.
#[inline]
pub unsafe fn store(container: *const u64, slot: *mut Raw, value: Raw) -> Result<Raw, Error> {
    // SAFETY: the caller's contract.
    unsafe {
        if value.pointer().is_none() && !CHECKED {
            *slot = value;
            return Ok(value);
        }
        store_checked(container, slot, value)
    }
}

/// [`store`] that also reports the store of an immediate into a frozen region.
///
/// # Errors
/// As for [`store`].
///
/// # Safety
/// As for [`store`].
#[inline]
pub unsafe fn store_checked(
    container: *const u64,
    slot: *mut Raw,
    value: Raw,
) -> Result<Raw, Error> {
    // SAFETY: the caller's contract.
    unsafe {
        let r = region_of(container.cast());
        writable(r)?;
        let value = admit(r, value)?;
        *slot = value;
        Ok(value)
    }
}

/// [`store_checked`] that copies nothing: the value is stored as it is, or not at all.
///
/// # Errors
/// [`Error::DiesFirst`] where a store would copy the value; [`Error::Frozen`] and [`Error::OutsideRegion`].
///
/// # Safety
/// As for [`store`].
pub unsafe fn store_as_is(container: *const u64, slot: *mut Raw, value: Raw) -> Result<Raw, Error> {
    // SAFETY: the caller's contract.
    unsafe {
        let r = region_of(container.cast());
        writable(r)?;
        if !stays(r, value) {
            return Err(if r.is_null() { Error::OutsideRegion } else { Error::DiesFirst });
        }
        *slot = value;
        Ok(value)
    }
}

/// [`store_as_is`] that first, where it is needed, makes the value's region part of the container's
/// ([`merge`](crate::life::merge)): a constant cost, and everything in that region lives as long as the container.
///
/// # Errors
/// [`Error::DiesFirst`] when the regions cannot be merged, because the value's is shared or frozen or holds the
/// container's, or memory is out; [`Error::Frozen`] and [`Error::OutsideRegion`]. Nothing has changed then.
///
/// # Safety
/// As for [`store`]; the calling thread owns both regions.
pub unsafe fn store_merging(
    container: *const u64,
    slot: *mut Raw,
    value: Raw,
) -> Result<Raw, Error> {
    // SAFETY: the caller's contract.
    unsafe {
        let stored = store_as_is(container, slot, value);
        if let (Err(Error::DiesFirst), Some(p)) = (stored, value.pointer())
            && merge(region_of(p.cast()), region_of(container.cast()))
        {
            *slot = value;
            return Ok(value);
        }
        stored
    }
}

/// Whether objects of `r` may be written.
#[inline(always)]
pub(crate) unsafe fn writable(r: *mut Control) -> Result<(), Error> {
    // SAFETY: a region's block can be read also when the region is gone.
    if CHECKED && !r.is_null() && unsafe { !(*r).counts.is_held() } {
        wrong(format_args!("store into an object of region {r:p}, which is gone"));
    }
    // SAFETY: the callers' region is alive or null.
    if unsafe { !r.is_null() && (*r).frozen } { Err(Error::Frozen) } else { Ok(()) }
}

/// The value, or a copy of it, such that it may be stored in `r`; null for what lies in no region.
#[inline]
pub(crate) unsafe fn admit(r: *mut Control, value: Raw) -> Result<Raw, Error> {
    let Some(p) = value.pointer() else { return Ok(value) };
    // SAFETY: the callers' value is alive.
    let from = unsafe { region_of(p.cast()) };
    if from == r || from.is_null() {
        return Ok(value);
    }
    // SAFETY: the callers' contract.
    unsafe { admit_from(r, from, value) }
}

#[cold]
#[inline(never)]
unsafe fn admit_from(r: *mut Control, from: *mut Control, value: Raw) -> Result<Raw, Error> {
    // Static data outlives every region, and there is no region to copy to.
    if r.is_null() {
        return Err(Error::OutsideRegion);
    }
    // SAFETY: the callers' contract.
    unsafe {
        if outlives(from, r) {
            return Ok(value);
        }
        let mut roots = [value];
        repair(r, &mut roots)?;
        Ok(roots[0])
    }
}

/// [`admit`] of values that go into one container: what they share stays shared. Their places may be
/// those of the container. On failure none has changed.
#[inline]
pub(crate) unsafe fn admit_all(r: *mut Control, values: &mut [Raw]) -> Result<(), Error> {
    // SAFETY: the callers' contract.
    unsafe {
        if values.iter().all(|value| stays(r, *value)) {
            return Ok(());
        }
        if r.is_null() {
            return Err(Error::OutsideRegion);
        }
        repair(r, values)
    }
}

/// Whether a value may be stored in `r` as it is.
#[inline]
pub(crate) unsafe fn stays(r: *mut Control, value: Raw) -> bool {
    let Some(p) = value.pointer() else { return true };
    // SAFETY: the callers' value is alive.
    unsafe {
        let from = region_of(p.cast());
        from == r || from.is_null() || (!r.is_null() && outlives(from, r))
    }
}

/// Copies what the values reach that does not outlive `r`.
#[cold]
#[inline(never)]
unsafe fn repair(r: *mut Control, values: &mut [Raw]) -> Result<(), Error> {
    // SAFETY: the callers' contract.
    unsafe {
        (*r).repairs += 1;
        // So that the count is reset when the region ends.
        (*r).counts.set_extra();
        transmigrate::copy(r, values)
    }
}
