//! Blocks whose pages move with them (`mremap`), so that growing copies nothing.
//!
//! The kernel keeps moved pages as a mapping of their own, and moves one mapping at a time. A large
//! block's record says where the **seams** between its mappings lie:
//!
//! ```text
//!   block │ moved the first time │ moved the second time │ never moved │
//!                                ▲ seam                  ▲ seam
//! ```
//! A process may have 65,530 mappings, so seams are counted, and free memory has none: the pages of a
//! block that is freed, or of the tail that it gives up, are replaced by fresh ones which the kernel joins
//! with what lies around them. It joins only what has been given the same advice.

use crate::base::layout::{UNIT, UNIT_SHIFT, Unit, units_for};
use crate::map::record::{Kind, MAX_SEAMS, Seams, Span};
use crate::map::span_map::MAP;
use crate::source::huge;
use allod_os::vm;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Mappings that moved pages may add to those of the process; beyond that, bytes are copied.
const MOST: usize = 8192;

/// Mappings that moved pages have added.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// True while pages may be moved.
pub fn are_few() -> bool {
    COUNT.load(Relaxed) < MOST
}

/// The seams of a block; none unless it is a large one.
///
/// # Safety
/// `span` is the record of a live block.
pub unsafe fn of(span: *mut Span) -> Seams {
    // SAFETY: the caller's contract; only large blocks have seams.
    unsafe {
        match (*span).kind() {
            Kind::Large => *Span::seams(span),
            _ => [0; MAX_SEAMS + 1],
        }
    }
}

/// Moves the pages of `from..from+old` to `to`, mapping by mapping, and adds the seam at the end.
/// Copies what cannot be moved.
///
/// # Safety
/// Two blocks of at least `old` bytes in spans of the caller's, which start at the same place of their
/// pages; `seams` are those of the first, and the second holds nothing yet.
pub unsafe fn move_contents(from: usize, to: usize, old: usize, seams: &mut Seams) {
    let page = vm::page_size();
    let offset = from % page;
    let (source, target) = (from - offset, to - offset);
    let len = (offset + old).next_multiple_of(page);
    // A block that has shrunk may have seams after its end.
    let count = seams[1..=seams[0] as usize].iter().filter(|&&seam| (seam as usize) < len).count();
    if count == MAX_SEAMS {
        seams[0] = 0;
        // SAFETY: both blocks hold `old` bytes.
        return unsafe { ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, old) };
    }
    let mut at = 0;
    let ends = seams[1..=count].iter().map(|&seam| seam as usize);
    for end in ends.chain([len]) {
        if end > at {
            // SAFETY: both ranges are whole pages of the two spans, committed and the caller's.
            unsafe { move_or_copy(source + at, target + at, end - at) };
        }
        at = end;
    }
    seams[count + 1] = len as u64;
    seams[0] = count as u64 + 1;
    COUNT.fetch_add(count + 1, Relaxed);
}

/// # Safety
/// As for [`vm::move_pages`].
unsafe fn move_or_copy(from: usize, to: usize, len: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        if vm::move_pages(from, to, len) {
            forget_huge(from, len);
        } else {
            // The destination is fresh.
            huge::advise_opened(to, len);
            ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, len);
        }
    }
    forget_huge(to, len);
}

/// Notes that the pages of a range are no longer those that were made huge there.
fn forget_huge(at: usize, len: usize) {
    let first = MAP.unit_of(at);
    huge::forget(first, (MAP.unit_of(at + len - 1) + 1) - first);
}

/// Replaces the pages of a span into which others were moved by fresh ones, as far as the block ever
/// reached. Returns how many units at its start then read as zero: 0 if none was moved, or if the
/// system refuses.
///
/// # Safety
/// The span is the caller's, who gives it up.
pub unsafe fn renew(span: *mut Span) -> usize {
    // SAFETY: the caller's contract.
    unsafe {
        let seams = &mut *Span::seams(span);
        let (count, units) = (seams[0] as usize, (*span).units as usize);
        if count == 0 {
            return 0;
        }
        // After the last seam nothing was moved, and what was never reached is fresh. A list may reach
        // beyond a block that has shrunk.
        let start = (*span).start % UNIT;
        let first_page = start & !(vm::page_size() - 1);
        let reached = (start + (*Span::large(span)).most).max(first_page + seams[count] as usize);
        let old = units_for(reached).min(units);
        if !renew_units(MAP.unit_of_span(span), old) {
            return 0;
        }
        seams[0] = 0;
        COUNT.fetch_sub(count, Relaxed);
        old
    }
}

/// Replaces the pages of units by fresh ones, with the advice that units have. False when the system
/// refuses.
///
/// # Safety
/// The units are the caller's, and nothing in them is in use.
pub unsafe fn renew_units(unit: Unit, units: usize) -> bool {
    let (at, len) = (MAP.address_of(unit), units << UNIT_SHIFT);
    // SAFETY: the caller's contract.
    let renewed = unsafe { vm::renew(at, len) };
    if renewed {
        huge::forget(unit, units);
        huge::advise_opened(at, len);
    }
    renewed
}

/// Removes the seams after the first `kept` bytes from a block's list, and puts the end itself in their
/// place, if there are any and `renew` can replace the pages there. True if it has.
///
/// # Safety
/// The record is that of a live block of the caller's.
pub unsafe fn cut(span: *mut Span, kept: usize, renew: impl FnOnce() -> bool) -> bool {
    // SAFETY: the caller's contract.
    let seams = unsafe { &mut *Span::seams(span) };
    let count = seams[0] as usize;
    let left = seams[1..=count].iter().filter(|&&seam| seam as usize <= kept).count();
    if left == count || !renew() {
        return false;
    }
    let mut new = left;
    if seams[left] as usize != kept || left == 0 {
        new += 1;
        seams[new] = kept as u64;
    }
    seams[0] = new as u64;
    COUNT.fetch_sub(count - new, Relaxed);
    true
}
