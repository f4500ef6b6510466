//! What copying knows of the commonest objects.

use crate::data::ids;
use crate::data::value::Header;

/// The header of every pair.
pub(super) const PAIR: u64 = Header::fixed(ids::PAIR).0;
pub(super) const PAIR_BYTES: usize = 24;
pub(super) const INT: u64 = Header::fixed(ids::INT).0;
pub(super) const FLOAT: u64 = Header::fixed(ids::FLOAT).0;

/// Copies one pair; the original leads to the copy.
#[inline(always)]
pub(super) unsafe fn copy_one(p: *mut u64, q: *mut u64) {
    // SAFETY: both are the caller's.
    unsafe {
        *q = PAIR;
        *q.add(1) = *p.add(1);
        *q.add(2) = *p.add(2);
        *p = q as u64;
    }
}
