//! What copying knows of the commonest objects.

use crate::data::ids;
use crate::data::value::{Header, TAG_PAIR, forwarding};

pub(super) const PAIR_BYTES: usize = 16;
pub(super) const INT: u64 = Header::fixed(ids::INT).0;
pub(super) const FLOAT: u64 = Header::fixed(ids::FLOAT).0;

/// The pair that a word points to; null for all other words, which are no addresses of pairs.
#[inline(always)]
pub(super) fn pair_of(word: u64) -> *mut u64 {
    if word & 7 == TAG_PAIR { (word ^ TAG_PAIR) as *mut u64 } else { core::ptr::null_mut() }
}

/// The word that points to a pair.
#[inline(always)]
pub(super) fn to_pair(p: *const u64) -> u64 {
    p as u64 | TAG_PAIR
}

/// True for words in complete copies that lead nowhere. Neither forwarding nor headers are among these.
#[inline(always)]
pub(super) fn leads_nowhere(word: u64) -> bool {
    word & 3 != 0
}

/// Copies one pair; the original leads to the copy.
#[inline(always)]
pub(super) unsafe fn copy_one(p: *mut u64, q: *mut u64) {
    // SAFETY: both are the caller's.
    unsafe {
        *q.cast::<[u64; 2]>() = *p.cast::<[u64; 2]>();
        *p = forwarding(q);
    }
}
