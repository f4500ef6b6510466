//! Stores, and repairing those that would break the closure rule.

use crate::base::check::{CHECKED, wrong};
use crate::base::error::Error;
use crate::data::value::Raw;
use crate::life::{merge, outlives};
use crate::memory::accounting::live;
use crate::memory::control::Control;
use crate::memory::slots::region_of;
use crate::transmigrate;
use allod_os::thread;

/// Below this many bytes a region's survivors are copied however many there are.
const ALWAYS_COPY: usize = 4096;
/// Survivors above one part in so many are not worth copying. Chosen by `allod bench region --only
/// exit-few,exit-quarter,exit-half,exit-all`.
const WORTH: usize = 4;

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
        (*r).repairs += 1;
        // So that the count is reset when the region ends.
        (*r).counts.set_extra();
        let mut roots = [value];
        if !may_merge(from, r) {
            transmigrate::copy(r, &mut roots)?;
        } else if !transmigrate::copy_at_most(r, &mut roots, worth_copying(from))? {
            if merge(from, r) {
                return Ok(value);
            }
            transmigrate::copy(r, &mut roots)?;
        }
        Ok(roots[0])
    }
}

unsafe fn may_merge(from: *mut Control, into: *mut Control) -> bool {
    // SAFETY: both regions are alive.
    unsafe {
        let me = thread::pointer();
        !(*from).counts.is_shared()
            && (*from).counts.is_owner(me)
            && (*into).counts.is_owner(me)
            && outlives(into, from)
    }
}

/// How many bytes to copy out of a region before its memory is taken over whole instead.
pub(super) unsafe fn worth_copying(r: *const Control) -> usize {
    // SAFETY: the callers' region is alive.
    let live = unsafe { live(r) };
    if live < ALWAYS_COPY { usize::MAX } else { live / WORTH }
}
