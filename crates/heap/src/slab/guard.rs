//! Inaccessible pages of a slab: all of them in slabs of blocks of size 0, and in the hardened build the
//! last page of every slab, as long as the system's limit on mappings allows it.
//!
//! A guard costs a system call when a slab is made and one when it is given up, with the heap's lock held.

use crate::base::class::Class;
use crate::base::hardening::GUARD;
use crate::base::layout::UNIT;
use crate::base::layout::Unit;
use crate::map::blocks;
use crate::map::record::Span;
use crate::map::span_map::MAP;
use allod_os::{io, vm};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Slabs that may have guards at once: each takes two mappings, of which a process has 65,530.
const BUDGET: usize = 12 * 1024;

static RAISED: AtomicUsize = AtomicUsize::new(0);

/// The inaccessible part of a slab.
fn part(unit: Unit, units: usize, class: Class) -> (usize, usize) {
    let end = MAP.address_of(unit + units);
    let len = if class == Class::ZERO { units * UNIT } else { GUARD };
    (end - len, len)
}

/// Makes the guard pages of a new slab inaccessible. False when there are none, or the budget is spent.
///
/// # Safety
/// The slab is the caller's, and no block of it has been handed out.
pub unsafe fn raise(unit: Unit, units: usize, class: Class) -> bool {
    let (at, len) = part(unit, units, class);
    if len == 0 || !len.is_multiple_of(vm::page_size()) {
        return false;
    }
    if RAISED.fetch_add(1, Relaxed) < BUDGET {
        // SAFETY: the caller's contract; no block lies there that has bytes.
        if unsafe { vm::close(at, len) } {
            return true;
        }
    }
    RAISED.fetch_sub(1, Relaxed);
    false
}

/// Makes them accessible again, for whoever gets the units next.
///
/// # Safety
/// The slab is the caller's to give up, and its record still says what it was.
pub unsafe fn lower(span: *mut Span) {
    // SAFETY: the caller's contract.
    unsafe {
        let slab = &mut *Span::slab(span);
        if !slab.guarded {
            return;
        }
        slab.guarded = false;
        let class = Class::new(slab.class as usize);
        let (at, len) = part(MAP.unit_of_span(span), (*span).units as usize, class);
        if !vm::open(at, len) {
            // Otherwise the next owner of the units would fault on a page for no visible reason.
            io::abort();
        }
    }
    RAISED.fetch_sub(1, Relaxed);
}

/// Has the blocks of a new slab where others were before looked at when they are handed out, where that is promised.
///
/// # Safety
/// The slab is the caller's, and its record is complete.
#[inline]
pub unsafe fn doubt(span: *mut Span) {
    // SAFETY: the caller's contract.
    unsafe {
        let slab = &*Span::slab(span);
        let end = MAP.address_of(MAP.unit_of_span(span)) + slab.dirty_units as usize * UNIT;
        blocks::doubt((*span).start, slab.size as usize, end);
    }
}

/// Makes sure that a slab given up with blocks in it leaves none of their contents, where that is promised.
///
/// # Safety
/// As for [`lower`].
pub unsafe fn wipe(span: *mut Span) {
    let unit = MAP.unit_of_span(span);
    // SAFETY: the caller's contract.
    unsafe { blocks::forget(MAP.address_of(unit), (*span).units as usize * UNIT) };
}
