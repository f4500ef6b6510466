//! A region becomes part of another: merge and splice.

use crate::life::holding::{each_held, keep, may_hold};
use crate::life::reclaim::settle;
use crate::life::scope::retain;
use crate::memory::control::Control;
use crate::memory::slots;
use core::sync::atomic::Ordering::Relaxed;

/// Makes `heir` the heir of `r`: from now on `r`'s objects count as the heir's, and when `r` is
/// reclaimed its memory is handed over. Constant cost however many objects there are. Allocation in `r`
/// may go on until then.
///
/// False when `r` is shared or frozen, is `heir` already or outlives it, or when memory is out.
///
/// # Safety
/// The calling thread owns both; `heir`'s scope is open or it is otherwise held by the caller, and it
/// outlives `r` from now on.
pub unsafe fn merge(r: *mut Control, heir: *mut Control) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        let (r, heir) = (slots::last_heir(r), slots::last_heir(heir));
        if r == heir || (*r).counts.is_shared() || (*r).frozen || (*heir).frozen {
            return false;
        }
        if may_hold(heir, r) {
            return false;
        }
        // What was guaranteed to outlive `r` must now outlive the heir.
        if !inherit_holds(r, heir) {
            return false;
        }
        retain(heir);
        (*r).heir.store(heir, Relaxed);
        (*r).counts.set_extra();
        true
    }
}

/// [`splice`] of a region that holds nothing but what `heir` holds as well, which needs no memory.
///
/// # Safety
/// As for [`splice`]; nothing but its scope holds `r`, which is not shared.
pub(crate) unsafe fn absorb(heir: *mut Control, r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe {
        retain(heir);
        (*r).heir.store(heir, Relaxed);
        (*r).counts.set_extra();
        settle(r, (*r).counts.exit(), "exit");
    }
}

/// The heir keeps what the region held: the regions its values may point into. False, with nothing
/// changed, when one of those holds the heir; also when memory is out, and then the heir may keep some of
/// them already, which does no harm.
unsafe fn inherit_holds(r: *mut Control, heir: *mut Control) -> bool {
    let mut ok = true;
    // SAFETY: the caller owns both; what they hold is alive.
    unsafe {
        each_held(r, |held| {
            let held = slots::last_heir(held);
            ok = held == heir || !may_hold(held, heir);
            ok
        });
        if ok {
            each_held(r, |held| {
                ok = slots::last_heir(held) == heir || keep(heir, held);
                ok
            });
        }
    }
    ok
}

/// Leaves `r`'s scope and hands all its memory to `heir`: the splice. Constant cost.
///
/// False when it cannot be done (see [`merge`]); then nothing has changed.
///
/// # Safety
/// As for [`merge`] and [`exit`](crate::life::exit); values of `r` stay valid as values of `heir`.
pub unsafe fn splice(r: *mut Control, heir: *mut Control) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        if !merge(r, heir) {
            return false;
        }
        settle(r, (*r).counts.exit(), "exit");
        true
    }
}
