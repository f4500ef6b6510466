//! Fetching what a scan comes to next.
//!
//! The objects that copies lead to lie anywhere in the source, and waiting for one that is in no cache takes
//! far longer than copying it. So the first words that the slots some way ahead lead to are asked for early.

/// Words between a slot that is scanned and one whose object is asked for: where objects of two to six words each
/// follow one another, a slot in the same place of a later one. What a distance gains shows in the pauses of `nboyer`
/// and `gcbench` (`allod scheme --stats`).
const AHEAD: usize = 60;

/// Asks for the object that the slot [`AHEAD`] words after `at` leads to, if it lies before `end`. Any word may stand
/// there.
///
/// # Safety
/// What lies from `at` to `end` may be read.
#[inline(always)]
pub(super) unsafe fn ask(at: *const u64, end: *const u64) {
    let slot = at.wrapping_add(AHEAD);
    if slot < end {
        // SAFETY: the slot lies before `end`.
        let word = unsafe { *slot };
        // Immediates are no addresses, and looking for their pages takes time: the slot's own line is at hand.
        fetch(if word & 3 == 0 { word } else { slot as u64 });
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn fetch(address: u64) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: asking for memory reads none: any address will do.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address as *const i8) };
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn fetch(_: u64) {}
