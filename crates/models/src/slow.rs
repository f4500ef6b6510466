//! The slow paths of the cut-down heap.

use crate::heap::Heap;
use crate::remote::Parcel;

/// Unpacks all waiting parcels into the slabs.
///
/// # Safety
/// `h` is locked.
pub unsafe fn settle_mail(h: *mut Heap) {
    // SAFETY: the caller's contract; taken parcels are ours.
    unsafe {
        let mut parcel = (*h).inbox.take_all();
        while !parcel.is_null() {
            let next = (*parcel).next;
            let block = Parcel::open(parcel);
            (*h).slabs.with_mut(|s| (*s).push(block));
            parcel = next;
        }
    }
}

/// Returns the front cache to the slabs.
///
/// # Safety
/// `h` is locked and its front cache the caller's.
pub unsafe fn empty_cache(h: *mut Heap) {
    // SAFETY: the caller's contract.
    unsafe {
        let cached = (*h).cache.with_mut(|c| std::mem::take(&mut *c));
        (*h).slabs.with_mut(|s| (*s).extend(cached));
    }
}
