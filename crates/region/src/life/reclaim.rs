//! What a count asks for: regions that nobody holds are taken apart.

use crate::base::check::{POISON, VALIDATE, wrong};
use crate::life::validate;
use crate::memory::accounting::live;
use crate::memory::control::{Chunk, Control, INLINE_BYTES, Kept};
use crate::memory::counts::{Left, Misuse};
use crate::memory::{chunk, pool, slots};
use allod_os::thread;
use core::ptr;
use core::sync::atomic::Ordering::{Relaxed, Release};

/// Does what a count asks for.
#[inline]
pub(super) unsafe fn settle(r: *mut Control, left: Result<Left, Misuse>, what: &str) {
    match left {
        Ok(Left::Alive) => {}
        // SAFETY: the counts say that nobody holds the region.
        Ok(Left::Reclaim) => unsafe { reclaim(r) },
        Err(misuse) => wrong(format_args!("{what} of region {r:p}: {misuse}")),
    }
}

/// Bytes that were moved in vain out of what is merged into `r`: kept in the newest merged block, whose
/// own objects are counted by the heir.
///
/// # Safety
/// The region is alive and the caller's.
pub(crate) unsafe fn vain(r: *const Control) -> usize {
    // SAFETY: the caller's contract; merged blocks live as long as their heir.
    unsafe { (*r).merged.as_ref().map_or(0, |newest| newest.retired) }
}

/// Notes that so many bytes more were moved in vain before a region was merged into `r`.
///
/// # Safety
/// As for [`vain`].
pub(crate) unsafe fn note_vain(r: *mut Control, bytes: usize) {
    // SAFETY: as in `vain`.
    unsafe {
        if let Some(newest) = (*r).merged.as_mut() {
            newest.retired += bytes;
        }
    }
}

/// Makes a dead region's block, with its chunks, its heir's. No chunk is touched: their headers may
/// long have left the caches.
unsafe fn hand_over(r: *mut Control, heir: *mut Control) {
    // SAFETY: nobody holds `r`; the thread owns the heir, which is alive.
    unsafe {
        let in_vain = vain(r) + vain(heir);
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
        (*r).retired = in_vain;
        // The reference to the heir is let go by whoever read it before this.
        (*r).handed_over.store(true, Release);
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
        let (heir, parent, kept) = ((*r).heir.load(Relaxed), (*r).parent, (*r).kept);
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
        if !kept.is_null() {
            let all: Kept = kept.read();
            allod_heap::free(kept.cast());
            all.some.as_slice().iter().for_each(|held| dead.release(*held));
            all.settled.each(|held, ()| dead.release(held as *mut Control));
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
            validate::prove_unreachable(r);
        }
        free_memory(r);
        Control::clear(r);
        Control::close(r);
        (*r).counts.reset(thread::pointer());
        poison_inline(r);
        pool::put(r);
    }
}

/// Gives back all memory of a region that stays open.
///
/// # Safety
/// The calling thread owns `r`; none of its objects is used any more.
pub(crate) unsafe fn discard(r: *mut Control) {
    // SAFETY: the caller's contract.
    unsafe {
        if VALIDATE {
            validate::prove_unreachable(r);
        }
        free_memory(r);
        poison_inline(r);
        Control::rewind(r);
        (*r).newest = ptr::null_mut();
        (*r).oldest = ptr::null_mut();
        (*r).merged = ptr::null_mut();
        (*r).merged_last = ptr::null_mut();
        (*r).retired = 0;
        (*r).inline_used = 0;
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
