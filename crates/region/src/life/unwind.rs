//! Leaving many scopes at once.

use crate::life::scope::exit;
use crate::memory::control::Control;
use crate::memory::counts::State;
use crate::memory::slots;

/// Leaves the scope of `inner` and of all regions that it was created in, up to `outer`, whose scope stays open: what
/// an escape does that skips the ends of scopes, such as `longjmp` or an exception of a compiled language. `inner` may
/// be `outer`. One call of [`exit`] for each; scopes between them that were left before are passed over.
///
/// False, with nothing changed, when `inner` was not created in `outer`, nor in what was.
///
/// # Safety
/// As for [`exit`], for each of the regions between.
pub unsafe fn exit_to(inner: *mut Control, outer: *mut Control) -> bool {
    // SAFETY: the caller's contract; a region's parents are alive as long as it is.
    unsafe {
        let home = slots::last_heir(outer);
        let is_end = |r: *mut Control| r == outer || r == home;
        let mut at = inner;
        while !at.is_null() && !is_end(at) {
            at = (*at).parent;
        }
        if at.is_null() {
            return false;
        }
        at = inner;
        while !is_end(at) {
            // One whose scope was left may go with the region in it.
            let mut next = (*at).parent;
            while !is_end(next) && !is_open(next) {
                next = (*next).parent;
            }
            if is_open(at) {
                exit(at);
            }
            at = next;
        }
        true
    }
}

unsafe fn is_open(r: *mut Control) -> bool {
    // SAFETY: the callers' region is alive.
    unsafe { (*r).counts.state() == State::Open }
}
