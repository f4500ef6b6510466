//! Pages of a slab that nobody may touch: all of them where blocks have no bytes, and in the hardened build the
//! last page of every slab, as long as the system's limit on mappings allows it.
//!
//! A guard costs a system call when a slab is made and one when it goes, with the heap's lock held.

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

/// The part of a slab that nobody may touch.
fn part(unit: Unit, units: usize, class: Class) -> (usize, usize) {
    let end = MAP.address_of(unit + units);
    let len = if class == Class::ZERO { units * UNIT } else { GUARD };
    (end - len, len)
}

/// Closes the pages of a new slab that nobody is to touch. False when there are none, or the budget is spent.
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

/// Opens them again, for whoever gets the units next.
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
            // Whoever gets the units next would find a page missing, and nobody could tell why.
            io::abort();
        }
    }
    RAISED.fetch_sub(1, Relaxed);
}

/// Has a slab that goes with blocks in it leave nothing behind of them, where that is promised.
///
/// # Safety
/// As for [`lower`].
pub unsafe fn wipe(span: *mut Span) {
    let unit = MAP.unit_of_span(span);
    // SAFETY: the caller's contract.
    unsafe { blocks::forget(MAP.address_of(unit), (*span).units as usize * UNIT) };
}
