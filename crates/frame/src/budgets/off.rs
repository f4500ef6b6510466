//! Without the feature `budgets`: nothing.

use crate::drops::Entry;
use crate::located::Here;
use crate::raw::RawFrame;
use allod_frame_core::OutOfMemory;

/// How much of a frame's newest charge a checkpoint keeps: nothing is charged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Charged;

/// Charges an allocation to its budgets: no code.
#[inline(always)]
pub(crate) fn charge(_: &RawFrame, _bytes: usize, _: Here) -> Result<(), OutOfMemory> {
    Ok(())
}

/// Changes the charge of the newest block, if it can be changed in place: no code.
#[inline(always)]
pub(crate) fn recharge(_: &RawFrame, _old: usize, _new: usize) -> bool {
    true
}

/// What the newest charge amounts to: no code.
#[inline(always)]
pub(crate) unsafe fn charged(_newest: *mut Entry) -> Charged {
    Charged
}

/// Takes the newest charge back to what it was: no code.
#[inline(always)]
pub(crate) unsafe fn restore(_newest: *mut Entry, _stamp: u64, _to: Charged) {}

/// Panics with the reason when a budget refused the allocation: no code.
#[inline(always)]
pub(crate) fn panic_if_refused() {}

/// Memory is out: no code.
#[inline(always)]
pub(crate) fn memory_is_out() {}
