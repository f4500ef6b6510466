//! The store barrier: every mutation that could break the closure rule goes through [`store`].
//!
//! A value may be stored in a container when it is an immediate or a symbol, when both are in one
//! region, or when the value's region outlives the container's: an ancestor
//! ([`create_in`](crate::life::create_in)) or one it keeps ([`keep`](crate::life::keep)). Otherwise the
//! store is **repaired**:
//!
//! 1. What the value reaches is **copied** to the container's region and the copy is stored.
//! 2. But if the container's region is an ancestor of the value's, the value's region is open on this
//!    thread and not shared, and copying turns out to take more than a quarter of what the region holds,
//!    the copies are given back and the value's region is **merged**: its memory goes to the ancestor
//!    when it ends. Nothing moves and the value keeps its identity.
//!
//! A container in no region (static data) outlives them all and has no memory to copy to: it takes
//! immediates, symbols and other static data, and refuses the rest.
//!
//! Nothing is measured beforehand: that would cost more than the copying. Whether the quarter is exceeded
//! is looked at whenever the container's region needs another chunk. Regions below 4 KiB are always copied
//! from.

use crate::check::{CHECKED, wrong};
use crate::control::{Control, live};
use crate::error::Error;
use crate::life::{merge, outlives};
use crate::slots::region_of;
use crate::transmigrate;
use crate::value::Raw;
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
unsafe fn worth_copying(r: *const Control) -> usize {
    // SAFETY: the callers' region is alive.
    let live = unsafe { live(r) };
    if live < ALWAYS_COPY { usize::MAX } else { live / WORTH }
}

/// Leaves `r`'s scope; of its objects only what the roots reach survives, in `heir`. The roots become
/// the surviving values.
///
/// Few survivors are moved; many make the memory change hands whole (a splice). Which it is shows as
/// they are moved: when that has taken more than a quarter of what a region of 4 KiB or more holds, and
/// needs another chunk of `heir`, they are put back. A region that something else holds is left alone
/// after a copy.
///
/// # Errors
/// [`Error::OutOfMemory`] or [`Error::Frozen`]: `r` is still open.
///
/// # Safety
/// As for [`exit`](crate::life::exit); the calling thread owns both regions and `heir` is open.
pub unsafe fn exit_with(
    r: *mut Control,
    heir: *mut Control,
    roots: &mut [Raw],
) -> Result<(), Error> {
    use crate::life::{exit, splice};
    // SAFETY: the caller's contract.
    unsafe {
        let heir = crate::slots::last_heir(heir);
        if crate::slots::last_heir(r) == heir {
            exit(r);
            return Ok(());
        }
        writable(heir)?;
        // What lies in a merged region is its heir's, which goes on using it.
        let merged = crate::slots::last_heir(r) != r;
        let alone = !merged && (*r).counts.only_open() && !(*r).counts.is_shared();
        if alone {
            if !transmigrate::take_at_most(heir, r, roots, worth_copying(r))? {
                if splice(r, heir) {
                    return Ok(());
                }
                transmigrate::take(heir, r, roots)?;
            }
            crate::validate::prove_closed(r, roots);
        } else {
            // Whatever holds the region may be what the roots rest on: its heir, for one.
            transmigrate::copy(heir, roots)?;
        }
        exit(r);
        Ok(())
    }
}
