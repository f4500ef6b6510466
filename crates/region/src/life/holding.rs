//! Which regions keep others alive, and so outlive them.

use crate::base::check::wrong;
use crate::base::scratch::{Full, Map, Stack};
use crate::life::scope::retain;
use crate::memory::control::{Control, Kept};
use crate::memory::slots;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// Makes a region's counts ready for other threads, and those of all that it keeps alive, which
/// whoever is last lets go of. Before the first of them sees it.
///
/// # Safety
/// The calling thread owns `r`, which is not merged into another.
pub unsafe fn share(r: *mut Control) {
    // SAFETY: the caller's contract; what a live region holds is alive. `next` is free while a region
    // lives, and each region is entered once: a shared region's are shared already.
    unsafe {
        let mut todo: *mut Control = ptr::null_mut();
        let enter = |held: *mut Control, todo: &mut *mut Control| {
            if (*held).counts.is_shared() {
                return;
            }
            if !(*held).heir.load(Relaxed).is_null() {
                wrong(format_args!("share of region {held:p}, which is merged into another"));
            }
            (*held).counts.share();
            (*held).next = *todo;
            *todo = held;
        };
        enter(r, &mut todo);
        while !todo.is_null() {
            let at = todo;
            todo = (*at).next;
            each_held(at, |held| {
                enter(held, &mut todo);
                true
            });
        }
    }
}

/// Calls `f` for each region that `r` holds, its parent and those it keeps, until `f` says false.
pub(super) unsafe fn each_held(r: *mut Control, mut f: impl FnMut(*mut Control) -> bool) {
    // SAFETY: the callers' region is alive, and so is what it holds.
    unsafe {
        if !(*r).parent.is_null() && !f((*r).parent) {
            return;
        }
        let mut k = (*r).kept;
        while !k.is_null() {
            if !f((*k).region) {
                return;
            }
            k = (*k).next;
        }
    }
}

/// Makes `other` outlive `r`: values of `other` may from now on be stored in `r`. `r` holds a reference
/// to `other` until it is reclaimed. False when memory is out, when `r` is frozen, and when `r` outlives
/// `other` already, which would be a circle that never ends.
///
/// # Safety
/// The calling thread owns `r`; `other` is alive, and shared or owned by the calling thread.
pub unsafe fn keep(r: *mut Control, other: *mut Control) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        let (r, other) = (slots::last_heir(r), slots::last_heir(other));
        if holds(r, other) == Ok(true) {
            return true;
        }
        if (*r).frozen || may_hold(other, r) {
            return false;
        }
        let k: *mut Kept = allod_heap::malloc(size_of::<Kept>()).cast();
        if k.is_null() {
            return false;
        }
        if (*r).counts.is_shared() {
            share(other);
        }
        retain(other);
        k.write(Kept { next: (*r).kept, region: other });
        (*r).kept = k;
        (*r).counts.set_extra();
        true
    }
}

/// True when `a` is sure to live as long as `b`: it is `b`, an ancestor, or kept by `b` or by one of
/// those. A few loads for each ancestor; a search, each region once, where regions keep others that hold
/// others again. False also when memory for that search is out.
///
/// # Safety
/// Both are alive.
pub unsafe fn outlives(a: *mut Control, b: *mut Control) -> bool {
    // SAFETY: the caller's contract.
    unsafe { holds(b, a) == Ok(true) }
}

/// Whether `b` holds `a`, so that `a` must not come to hold `b`: a circle would never end. Without
/// references nobody does. True also when memory to find out is out.
pub(super) unsafe fn may_hold(b: *mut Control, a: *mut Control) -> bool {
    // SAFETY: both are alive.
    unsafe { !(*a).counts.only_open() && holds(b, a) != Ok(false) }
}

/// Whether `b` holds `a` or is `a`.
unsafe fn holds(b: *mut Control, a: *mut Control) -> Result<bool, Full> {
    // SAFETY: what a live region holds is alive.
    unsafe {
        let a = slots::last_heir(a);
        let (mut at, mut deep) = (slots::last_heir(b), false);
        loop {
            if at == a {
                return Ok(true);
            }
            let mut k = (*at).kept;
            while !k.is_null() {
                let kept = slots::last_heir((*k).region);
                if kept == a {
                    return Ok(true);
                }
                deep |= !(*kept).parent.is_null() || !(*kept).kept.is_null();
                k = (*k).next;
            }
            if (*at).parent.is_null() {
                break;
            }
            at = slots::last_heir((*at).parent);
        }
        if deep { search(b, a) } else { Ok(false) }
    }
}

/// [`holds`] when the regions kept hold others again.
#[cold]
unsafe fn search(b: *mut Control, a: *mut Control) -> Result<bool, Full> {
    let mut met: Map<()> = Map::new();
    let mut todo = Stack::new();
    // SAFETY: as in `holds`.
    unsafe {
        todo.push(slots::last_heir(b))?;
        while let Some(at) = todo.pop() {
            if at == a {
                return Ok(true);
            }
            if met.get(at as u64).is_some() {
                continue;
            }
            met.insert(at as u64, ())?;
            let mut full = false;
            each_held(at, |held| {
                full |= todo.push(slots::last_heir(held)).is_err();
                !full
            });
            if full {
                return Err(Full);
            }
        }
        Ok(false)
    }
}
