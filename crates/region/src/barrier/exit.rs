//! Leaving a scope with what is to survive it.

use crate::barrier::store::writable;
use crate::base::error::Error;
use crate::data::value::Raw;
use crate::life::{exit, note_vain, splice, vain, validate};
use crate::memory::accounting::live;
use crate::memory::control::Control;
use crate::memory::slots::last_heir;
use crate::transmigrate;

/// Of a region below so many bytes all survivors are moved, however many there are; and so many are tried
/// in any.
const ALWAYS: usize = 4096;
/// Survivors above one part in so many are not worth moving. Chosen by `allod bench region --only
/// exit-few,exit-quarter,exit-half,exit-all`.
const WORTH: usize = 4;
/// So many times its bytes may be moved in vain out of a region and those merged into it.
const TRIES: usize = 2;

/// How many bytes to move out of a region before its memory is taken over whole instead.
///
/// Memory that goes from scope to scope, each of which ends with most of it alive, is tried until that
/// has taken as much as moving it twice: then a chain of scopes costs no more than what it allocates.
unsafe fn worth_moving(r: *const Control) -> usize {
    // SAFETY: the callers' region is alive.
    let (live, vain) = unsafe { (live(r), vain(r)) };
    if live < ALWAYS {
        return usize::MAX;
    }
    (live / WORTH).min((TRIES * live).saturating_sub(vain).max(ALWAYS))
}

/// Leaves `r`'s scope; of its objects only what the roots reach survives, in `heir`. The roots become
/// the surviving values.
///
/// Few survivors are moved; many make the memory change hands whole (a splice). Which it is shows as
/// they are moved: when that has taken more than a quarter of what a region of 4 KiB or more holds, and
/// needs another chunk of `heir`, they are put back. A region that something else holds is left alone
/// after a copy. Values of regions that `r` keeps stay as they are, and `heir` keeps these from now on.
///
/// An heir that is merged into a frozen region takes the survivors all the same, as it takes new objects.
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
    // SAFETY: the caller's contract.
    unsafe {
        let last = last_heir(heir);
        if last_heir(r) == last {
            exit(r);
            return Ok(());
        }
        let heir = if (*last).frozen { heir } else { last };
        writable(heir)?;
        // What lies in a merged region is its heir's, which goes on using it.
        let merged = last_heir(r) != r;
        let alone = !merged && (*r).counts.only_open() && !(*r).counts.is_shared();
        if alone {
            let most = worth_moving(r);
            if !transmigrate::take_out(heir, r, roots, most)? {
                if splice(r, heir) {
                    note_vain(heir, most);
                    return Ok(());
                }
                transmigrate::take_out(heir, r, roots, usize::MAX)?;
            }
            validate::prove_closed(r, roots);
        } else {
            // Whatever holds the region may be what the roots rest on: its heir, for one.
            transmigrate::copy_out(heir, r, roots)?;
        }
        exit(r);
        Ok(())
    }
}
