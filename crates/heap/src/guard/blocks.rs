//! Taking a guarded block and giving it back.

use crate::base::chance::mixed;
use crate::base::hardening::GUARDS;
use crate::base::layout::{MIN_ALIGN, UNIT};
use crate::base::settings;
use crate::base::trace::Trace;
use crate::guard::report::{self, Wrong};
use crate::guard::slots::{ALL, Slot, set_live};
use crate::guard::{chain, fault};
use crate::map::record::{Large, Span};
use crate::sample::due;
use allod_os::{io, vm};
use core::fmt::Write;
use core::ptr;
use core::slice;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// What fills a block's pages outside of the block: a value that programs rarely write.
const FILL: u8 = 0xD7;

/// Guards what the setting asks for.
pub fn start() {
    let one_in = settings::GUARD.get();
    if one_in != 0 && !set_rate(one_in) {
        let why =
            if GUARDS { "no memory for them" } else { "the hardened build checks all blocks" };
        let _ = writeln!(io::Fd::stderr(), "allod: ALLOD_GUARD: no block is guarded: {why}");
    }
}

/// Has one block of so many guarded from now on, none with 0. False when there is no memory for that,
/// and in the hardened build.
pub fn set_rate(one_in: u32) -> bool {
    let ready = one_in == 0 || GUARDS && ALL.prepare();
    if ready {
        due::guard_one_in(one_in);
    }
    ready
}

/// The largest size that is guarded.
fn most() -> usize {
    UNIT - 2 * vm::page_size()
}

/// Takes a guarded block. Every byte is zero. `None` when it cannot be had.
#[cold]
pub fn alloc(size: usize, align: usize) -> Option<*mut u8> {
    static TURN: AtomicU32 = AtomicU32::new(0);
    let page = vm::page_size();
    if size > most() || align > page {
        return None;
    }
    let number = ALL.take(&Trace::here())?;
    chain::put_first(fault::HANDLERS);
    let (first, end) = (ALL.address(number) + page, ALL.address(number) + UNIT - page);
    // By chance: an access past the end of a block is more common, but one before its start is as bad.
    let at_right = mixed(u64::from(TURN.fetch_add(1, Relaxed)) ^ settings::seed()) & 1 == 0;
    let start = if at_right { (end - size) & !(align.max(MIN_ALIGN) - 1) } else { first };
    let pages = start & !(page - 1)..(start + size).next_multiple_of(page);
    // SAFETY: the slot is ours, and nothing in it is in use.
    unsafe {
        if ALL.slot(number).reported.swap(false, Relaxed) {
            close(number);
        }
        if !pages.is_empty() && !vm::allow(pages.start, pages.len()) {
            ALL.give(number);
            return None;
        }
        let span = ALL.span(number);
        (*span).start = start;
        *Span::large(span) = Large { bytes: size, most: size, dirty_units: 0 };
        for part in around(start, size) {
            ptr::write_bytes(part.0 as *mut u8, FILL, part.1);
        }
        set_live(span, true);
    }
    Some(start as *mut u8)
}

/// Frees a guarded block, or reports what is wrong with the pointer.
#[cold]
pub fn free(p: *mut u8) {
    let Some(number) = ALL.number_of(p as usize) else { return };
    let span = ALL.span(number);
    // SAFETY: the record of a slot; whoever claims the block may touch it.
    unsafe {
        if (*span).start != p as usize {
            return report::misuse("free", p, number, Wrong::Inside);
        }
        let bytes = (*Span::large(span)).bytes;
        let spoilt =
            (*span).is_live() && around(p as usize, bytes).into_iter().any(|part| is_spoilt(part));
        if !set_live(span, false) {
            return report::misuse("free", p, number, Wrong::Freed);
        }
        if spoilt {
            report::misuse("free", p, number, Wrong::Overwritten);
        }
        let slot: &Slot = ALL.slot(number);
        slot.note_freed();
        close(number);
    }
    ALL.give(number);
}

/// Reports a pointer that is not a live guarded block, but lies in a slot. False for all others.
#[cfg(not(feature = "hardened"))]
#[cold]
pub fn report_if_guarded(function: &str, p: *mut u8) -> bool {
    let Some(number) = ALL.number_of(p as usize) else { return false };
    // SAFETY: the record of a slot.
    let is_start = unsafe { (*ALL.span(number)).start == p as usize };
    report::misuse(function, p, number, if is_start { Wrong::Freed } else { Wrong::Inside });
    true
}

/// The parts of a block's pages that are not the block.
fn around(start: usize, size: usize) -> [(usize, usize); 2] {
    let page = vm::page_size();
    if size == 0 {
        return [(start, 0); 2];
    }
    let (before, end) = (start % page, start + size);
    [(start - before, before), (end, end.next_multiple_of(page) - end)]
}

/// True when a part was written to.
///
/// # Safety
/// The pages of a live block.
unsafe fn is_spoilt((at, len): (usize, usize)) -> bool {
    // SAFETY: the caller's contract.
    let bytes = unsafe { slice::from_raw_parts(at as *const u8, len) };
    // All of it, for that is done sixteen bytes at a time.
    bytes.iter().fold(0, |differences, byte| differences | (byte ^ FILL)) != 0
}

/// Takes all access to a slot away, and its memory.
///
/// # Safety
/// Nothing in it is in use.
unsafe fn close(number: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        vm::forbid(ALL.address(number), UNIT);
        vm::purge(ALL.address(number), UNIT);
    }
}
