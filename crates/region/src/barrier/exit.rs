//! Leaving a scope with what is to survive it.

use crate::barrier::store::{worth_copying, writable};
use crate::base::error::Error;
use crate::data::value::Raw;
use crate::life::{exit, splice, validate};
use crate::memory::control::Control;
use crate::memory::slots::last_heir;
use crate::transmigrate;

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
    // SAFETY: the caller's contract.
    unsafe {
        let heir = last_heir(heir);
        if last_heir(r) == heir {
            exit(r);
            return Ok(());
        }
        writable(heir)?;
        // What lies in a merged region is its heir's, which goes on using it.
        let merged = last_heir(r) != r;
        let alone = !merged && (*r).counts.only_open() && !(*r).counts.is_shared();
        if alone {
            if !transmigrate::take_at_most(heir, r, roots, worth_copying(r))? {
                if splice(r, heir) {
                    return Ok(());
                }
                transmigrate::take(heir, r, roots)?;
            }
            validate::prove_closed(r, roots);
        } else {
            // Whatever holds the region may be what the roots rest on: its heir, for one.
            transmigrate::copy(heir, roots)?;
        }
        exit(r);
        Ok(())
    }
}
