//! Which regions keep others alive, and so outlive them.

use crate::base::check::wrong;
use crate::base::scratch::{Full, Map, Stack};
use crate::life::scope::retain;
use crate::memory::control::{Control, Kept};
use crate::memory::slots;
use allod_os::thread;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// Up to this many regions are checked one by one.
const WALKED: usize = 8;

/// Makes a region's counts ready for other threads, and those of all that it keeps alive, because the last
/// holder releases those. Called before the first of the threads sees it.
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
        let Some(kept) = (*r).kept.as_ref() else { return };
        for held in kept.some.as_slice() {
            if !f(*held) {
                return;
            }
        }
        let mut more = true;
        kept.settled.each(|held, ()| more = more && f(held as *mut Control));
    }
}

/// Makes `other` outlive `r`: values of `other` may from now on be stored in `r`. `r` holds a reference
/// to `other` until it is reclaimed. False when memory is out, when `r` is frozen, and when `r` already outlives
/// `other`, which would make a cycle that is never freed.
///
/// # Safety
/// The calling thread owns `r`; `other` is alive, and shared or owned by the calling thread.
pub unsafe fn keep(r: *mut Control, other: *mut Control) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        let (r, other) = (slots::last_heir(r), slots::last_heir(other));
        // Where many are kept, one may come to be kept twice, which does no harm.
        let many = (*r).kept.as_ref().is_some_and(|kept| kept.some.as_slice().len() >= WALKED);
        if if many { is_noted(r, other) } else { holds(r, other) == Ok(true) } {
            return true;
        }
        if (*r).frozen || may_hold(other, r) {
            return false;
        }
        if enter(r, other).is_err() {
            return false;
        }
        if (*r).counts.is_shared() {
            share(other);
        }
        retain(other);
        (*r).counts.set_extra();
        true
    }
}

/// Enters `other` among the regions that `r` keeps.
unsafe fn enter(r: *mut Control, other: *mut Control) -> Result<(), Full> {
    // SAFETY: the callers' regions are alive.
    unsafe {
        if (*r).kept.is_null() {
            let kept: *mut Kept = allod_heap::malloc(size_of::<Kept>()).cast();
            if kept.is_null() {
                return Err(Full);
            }
            kept.write(Kept { some: Stack::new(), settled: Map::new(), found: Map::new() });
            (*r).kept = kept;
            (*r).counts.set_extra();
        }
        let kept = &mut *(*r).kept;
        // A frozen region keeps no further regions and is merged into nothing.
        let settled = (*other).frozen && (*other).parent.is_null() && (*other).kept.is_null();
        if kept.some.as_slice().len() < WALKED {
            return kept.some.push(other);
        }
        if settled {
            return kept.settled.insert(other as u64, ());
        }
        kept.some.push(other)?;
        note_found(r, other);
        Ok(())
    }
}

/// Whether `r` itself keeps `other`, or holds it and it is frozen: then it does not matter through which regions.
///
/// # Safety
/// Both are alive.
pub(crate) unsafe fn keeps(r: *mut Control, other: *mut Control) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        if r != other && (*other).frozen {
            return outlives(other, r);
        }
        (*r).kept.as_ref().is_some_and(|kept| {
            kept.some.as_slice().iter().any(|&held| slots::last_heir(held) == other)
        })
    }
}

/// True when `a` is sure to live as long as `b`: it is `b`, an ancestor, or kept by `b` or by one of
/// those. A few loads for each ancestor, however many regions it keeps; the first time, a search that visits each
/// region once if regions keep others that hold others in turn. False also when memory for that search is out.
///
/// # Safety
/// Both are alive.
pub unsafe fn outlives(a: *mut Control, b: *mut Control) -> bool {
    // SAFETY: the caller's contract.
    unsafe { holds(b, a) == Ok(true) }
}

/// Whether `b` holds `a`, so that `a` must not come to hold `b`: a cycle would never be freed. Without
/// references nobody does. True also when memory for the search is out.
pub(super) unsafe fn may_hold(b: *mut Control, a: *mut Control) -> bool {
    // SAFETY: both are alive.
    unsafe { !(*a).counts.only_open() && holds(b, a) != Ok(false) }
}

/// Whether `b` is `a`, or it is noted that `b` holds `a`.
unsafe fn is_noted(b: *mut Control, a: *mut Control) -> bool {
    // SAFETY: both are alive.
    let kept = unsafe { (*b).kept.as_ref() };
    let noted =
        |kept: &Kept| kept.settled.get(a as u64).is_some() || kept.found.get(a as u64).is_some();
    a == b || kept.is_some_and(noted)
}

/// Whether `b` holds `a` or is `a`.
unsafe fn holds(b: *mut Control, a: *mut Control) -> Result<bool, Full> {
    // SAFETY: what a live region holds is alive.
    unsafe {
        let (a, b) = (slots::last_heir(a), slots::last_heir(b));
        let (mut at, mut deep) = (b, false);
        // Whoever holds a region has a reference to it. Its owner knows of all.
        if a != b && (*a).counts.is_owner(thread::pointer()) && (*a).counts.only_open() {
            return Ok(false);
        }
        loop {
            if is_noted(at, a) {
                return Ok(true);
            }
            if let Some(kept) = (*at).kept.as_ref() {
                for &held in kept.some.as_slice() {
                    let held = slots::last_heir(held);
                    if held == a {
                        note_found(b, a);
                        return Ok(true);
                    }
                    deep |= !(*held).parent.is_null() || !(*held).kept.is_null();
                }
            }
            if (*at).parent.is_null() {
                break;
            }
            at = slots::last_heir((*at).parent);
        }
        if !deep {
            return Ok(false);
        }
        let found = search(b, a)?;
        if found {
            note_found(b, a);
        }
        Ok(found)
    }
}

/// Notes that `a` outlives `b`, for the next time; where other threads may read what `b` keeps, or memory is out, it
/// is searched for again.
unsafe fn note_found(b: *mut Control, a: *mut Control) {
    // SAFETY: both are alive, and what no other thread can see belongs to the calling one.
    unsafe {
        if let Some(kept) = (*b).kept.as_mut()
            && !(*b).counts.is_shared()
        {
            let _ = kept.found.insert(a as u64, ());
        }
    }
}

/// [`holds`] when the kept regions hold others in turn.
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
