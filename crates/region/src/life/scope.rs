//! Scopes, references and tethers.

use crate::base::check::{CHECKED, VALIDATE, wrong};
use crate::life::reclaim::settle;
use crate::memory::control::Control;
use crate::memory::counts::{Left, State};
use crate::memory::{pool, slots};
use allod_os::thread;
use core::sync::atomic::Ordering::Relaxed;

/// Opens a region for the calling thread; null when memory is out.
///
/// About 2 ns from the thread's pool. It outlives nothing and nothing outlives it but its parents:
/// see [`create_in`].
#[inline]
pub fn create() -> *mut Control {
    let r = pool::get();
    if !r.is_null() {
        // SAFETY: a pooled region is the caller's alone.
        unsafe {
            if CHECKED {
                Control::rewind(r);
            }
            (*r).counts.open();
        }
    }
    r
}

/// Opens a region inside `parent`, which it keeps alive: values of the parent may be stored in it.
///
/// # Safety
/// `parent` is a live region that the calling thread owns or that is shared.
pub unsafe fn create_in(parent: *mut Control) -> *mut Control {
    let r = create();
    if r.is_null() {
        return r;
    }
    // SAFETY: the new region is the caller's; the parent is alive.
    unsafe {
        let parent = slots::last_heir(parent);
        retain(parent);
        (*r).parent = parent;
        (*r).counts.set_extra();
    }
    r
}

/// Leaves a region's scope. Unless references or tethers hold it, it goes to the pool at once.
///
/// # Safety
/// The calling thread owns `r` and its scope is open; without references and tethers no value of the
/// region is used afterwards.
#[inline]
pub unsafe fn exit(r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe {
        check_owner(r, "exit");
        if !VALIDATE && (*r).counts.is_plain() {
            (*r).counts.exit_plain();
            Control::empty(r);
            Control::close(r);
            return pool::put(r);
        }
        exit_slow(r);
    }
}

/// [`exit`] where there is more to do than to empty the inline buffer.
#[inline(never)]
unsafe fn exit_slow(r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe {
        if !VALIDATE && is_small(r) {
            let parent = (*r).parent;
            (*r).counts.exit_plain();
            Control::clear(r);
            Control::close(r);
            pool::put(r);
            return release(parent);
        }
        settle(r, (*r).counts.exit(), "exit")
    }
}

/// Whether all that a region has beside what is in its inline buffer is a parent. Then there is nothing to take apart, and its
/// memory need not be looked for.
#[inline(always)]
unsafe fn is_small(r: *mut Control) -> bool {
    // SAFETY: the callers' region is a control block.
    unsafe {
        !(*r).parent.is_null()
            && (*r).newest.is_null()
            && (*r).merged.is_null()
            && (*r).kept.is_null()
            && (*r).heir.load(Relaxed).is_null()
            && (*r).repairs == 0
            && !(*r).frozen
            && !(*r).counts.is_shared()
            && (*r).counts.only_open()
    }
}

/// In checked builds, reports what only the owner may do when another thread does it.
#[inline(always)]
pub(super) unsafe fn check_owner(r: *mut Control, what: &str) {
    // SAFETY: the callers' region is a control block.
    let counts = unsafe { &(*r).counts };
    if CHECKED && counts.state() == State::Open && !counts.is_owner(thread::pointer()) {
        wrong(format_args!("{what} of region {r:p} by a thread that does not own it"));
    }
}

/// Adds a reference, which keeps the region and its values beyond its scope. Plain until the region is
/// shared, then one atomic.
///
/// # Safety
/// `r` is alive; if it is not shared the calling thread owns it.
#[inline]
pub unsafe fn retain(r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe { settle(r, (*r).counts.retain().map(|()| Left::Alive), "retain") }
}

/// Takes a reference away; the last one reclaims the region if its scope has been left.
///
/// # Safety
/// The caller has a reference and does not use it again.
#[inline]
pub unsafe fn release(r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe { settle(r, (*r).counts.release(), "release") }
}

/// Begins a bounded borrow: until [`untether`], the region is not reclaimed. Nests. A plain increment
/// for the owner, one atomic for other threads.
///
/// # Safety
/// `r` is alive; on a thread that does not own it, it is shared.
#[inline]
pub unsafe fn tether(r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe { settle(r, (*r).counts.tether(thread::pointer()).map(|()| Left::Alive), "tether") }
}

/// Ends a tether begun by the same thread. The last one completes an exit that came before.
///
/// # Safety
/// The calling thread began a tether on `r` and has not ended it.
#[inline]
pub unsafe fn untether(r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe { settle(r, (*r).counts.untether(thread::pointer()), "untether") }
}

/// [`untether`] by the owner: one plain decrement.
///
/// # Safety
/// As for [`untether`]; the calling thread owns `r`.
#[inline]
pub unsafe fn untether_owner(r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe { settle(r, (*r).counts.untether_owner(), "untether") }
}
