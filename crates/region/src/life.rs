//! A region's life: create, exit, references, tethers, splice, reclaim.
//!
//! The functions here are what compilers call; [`Region`](crate::Region) wraps them safely. All need a
//! region that is alive. In debug and `validate` builds wrong use ends the program with a message.

use crate::check::{CHECKED, POISON, VALIDATE, wrong};
use crate::chunk::{self, Chunk};
use crate::control::{Control, INLINE_BYTES, Kept, live};
use crate::counts::{Left, Misuse, State};
use crate::pool;
use crate::scratch::{Full, Map, Stack};
use crate::slots;
use allod_os::thread;
use core::ptr;
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
#[cold]
#[inline(never)]
unsafe fn exit_slow(r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe { settle(r, (*r).counts.exit(), "exit") }
}

/// In checked builds, reports what only the owner may do when another thread does it.
#[inline(always)]
unsafe fn check_owner(r: *mut Control, what: &str) {
    // SAFETY: the callers' region is a control block.
    let counts = unsafe { &(*r).counts };
    if CHECKED && counts.state() == State::Open && !counts.is_owner(thread::pointer()) {
        wrong(format_args!("{what} of region {r:p} by a thread that does not own it"));
    }
}

/// Does what a count asks for.
#[inline]
unsafe fn settle(r: *mut Control, left: Result<Left, Misuse>, what: &str) {
    match left {
        Ok(Left::Alive) => {}
        // SAFETY: the counts say that nobody holds the region.
        Ok(Left::Reclaim) => unsafe { reclaim(r) },
        Err(misuse) => wrong(format_args!("{what} of region {r:p}: {misuse}")),
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
unsafe fn each_held(r: *mut Control, mut f: impl FnMut(*mut Control) -> bool) {
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
unsafe fn may_hold(b: *mut Control, a: *mut Control) -> bool {
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
        // What `r` was sure of, the heir must be sure of now.
        if !inherit_holds(r, heir) {
            return false;
        }
        retain(heir);
        (*r).heir.store(heir, Relaxed);
        (*r).counts.set_extra();
        true
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
/// As for [`merge`] and [`exit`]; values of `r` stay valid as values of `heir`.
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

/// Makes a dead region's block, with its chunks, its heir's. No chunk is touched: their headers may
/// long have left the caches.
unsafe fn hand_over(r: *mut Control, heir: *mut Control) {
    // SAFETY: nobody holds `r`; the thread owns the heir, which is alive.
    unsafe {
        if (*r).merged.is_null() {
            (*r).merged_last = r;
        }
        (*r).next = (*r).merged;
        (*(*r).merged_last).next = (*heir).merged;
        if (*heir).merged.is_null() {
            (*heir).merged_last = (*r).merged_last;
        }
        (*heir).merged = r;
        (*heir).retired += live(r);
        (*heir).counts.set_extra();
    }
}

/// Takes apart a region that nobody holds, and those that it alone kept alive: one after another,
/// however long the chain.
#[cold]
#[inline(never)]
unsafe fn reclaim(r: *mut Control) {
    let mut dead = Dead(ptr::null_mut());
    // SAFETY: the counts gave each region to this list, once.
    unsafe {
        dead.add(r);
        while let Some(r) = dead.pop() {
            take_apart(r, &mut dead);
        }
    }
}

/// Regions that nobody holds, to be taken apart; linked by `next`, which a live region does not use.
struct Dead(*mut Control);

impl Dead {
    unsafe fn add(&mut self, r: *mut Control) {
        // SAFETY: the caller was given the region.
        unsafe { (*r).next = self.0 };
        self.0 = r;
    }

    unsafe fn pop(&mut self) -> Option<*mut Control> {
        let r = core::ptr::NonNull::new(self.0)?.as_ptr();
        // SAFETY: listed regions are this list's.
        self.0 = unsafe { (*r).next };
        Some(r)
    }

    /// Takes a dead region's reference away; the last one adds the region to the list.
    unsafe fn release(&mut self, r: *mut Control) {
        // SAFETY: the reference was the dead region's.
        unsafe {
            match (*r).counts.release() {
                Ok(Left::Reclaim) => self.add(r),
                other => settle(r, other, "release"),
            }
        }
    }
}

unsafe fn take_apart(r: *mut Control, dead: &mut Dead) {
    // SAFETY: the counts gave the region to the caller; each held region is let go once.
    unsafe {
        let (heir, parent, mut kept) = ((*r).heir.load(Relaxed), (*r).parent, (*r).kept);
        if heir.is_null() {
            recycle(r);
        } else {
            (*r).parent = ptr::null_mut();
            (*r).kept = ptr::null_mut();
            let last = slots::last_heir(heir);
            hand_over(r, last);
            // The reference that `merge` took. An heir that is merged itself is handed over now, if
            // this was all that held it back.
            dead.release(heir);
        }
        while !kept.is_null() {
            let Kept { next, region } = kept.read();
            allod_heap::free(kept.cast());
            dead.release(region);
            kept = next;
        }
        if !parent.is_null() {
            dead.release(parent);
        }
    }
}

/// Empties a dead region and puts it into the pool.
unsafe fn recycle(r: *mut Control) {
    // SAFETY: nobody holds the region any more.
    unsafe {
        if VALIDATE {
            crate::validate::prove_unreachable(r);
        }
        free_memory(r);
        Control::clear(r);
        Control::close(r);
        (*r).counts.reset(thread::pointer());
        poison_inline(r);
        pool::put(r);
    }
}

/// Under `validate`, makes what was in the inline buffer unusable.
unsafe fn poison_inline(r: *mut Control) {
    if VALIDATE {
        // SAFETY: the callers' block is dead.
        unsafe { Control::inline_start(r).write_bytes(POISON, INLINE_BYTES) };
    }
}

/// Gives back chunks and merged blocks.
unsafe fn free_memory(r: *mut Control) {
    // SAFETY: nothing in the region is used any more.
    unsafe {
        free_chunks(r);
        let mut m = (*r).merged;
        while !m.is_null() {
            let next = (*m).next;
            free_chunks(m);
            poison_inline(m);
            slots::renew(m);
            (*m).counts.set_owner(thread::pointer());
            Control::close(m);
            pool::put(m);
            m = next;
        }
    }
}

unsafe fn free_chunks(r: *mut Control) {
    // SAFETY: nothing in the chunks is used any more.
    unsafe {
        let mut c = (*r).oldest;
        while !c.is_null() {
            let next = (*c).newer;
            if VALIDATE {
                let first = Chunk::first(c);
                first.write_bytes(POISON, (*c).limit as usize - first as usize);
            }
            chunk::dispose(c);
            c = next;
        }
    }
}

/// Makes a region read-only for good: nothing can be allocated in it, and stores into it are refused.
/// What it needs to be shared between threads. Owner only; idempotent.
///
/// # Safety
/// The calling thread owns `r`, which is not merged into another.
pub unsafe fn freeze(r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe {
        check_owner(r, "freeze");
        if (*r).frozen {
            return;
        }
        chunk::retire(r);
        (*r).first = (*r).cursor;
        (*r).limit = (*r).cursor;
        (*r).frozen = true;
        (*r).counts.set_extra();
        share(r);
    }
}

/// Prepares an open region, held by nothing else, to be handed to another thread: see [`adopt`].
/// False when references or tethers hold it, or when it depends on regions that are not shared.
///
/// # Safety
/// The calling thread owns `r`.
pub unsafe fn detach(r: *mut Control) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        let mut k = (*r).kept;
        while !k.is_null() {
            if !(*(*k).region).frozen {
                return false;
            }
            k = (*k).next;
        }
        let free = (*r).parent.is_null()
            && (*r).heir.load(Relaxed).is_null()
            && !(*r).counts.is_shared()
            && (*r).counts.only_open();
        if free {
            (*r).counts.set_owner(0);
        }
        free
    }
}

/// Makes the calling thread the owner of a detached region.
///
/// # Safety
/// `r` was detached and reached this thread through a synchronising channel, once.
pub unsafe fn adopt(r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe {
        if CHECKED && !(*r).counts.is_owner(0) {
            wrong(format_args!("adopt of region {r:p}, which was not detached"));
        }
        (*r).counts.set_owner(thread::pointer());
    }
}
