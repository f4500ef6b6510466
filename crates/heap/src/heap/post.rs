//! Sending a parcel to a heap that may no longer have a thread.

use crate::heap::heap::{Heap, STIRRED, Standing};
use crate::mail::parcel::Parcel;

/// An inbox this deep is unpacked by a sender if its owner does not do it.
const DEEP_INBOX: u32 = 64;

/// Leaves a parcel in a heap's inbox. When the heap has no thread, or its thread has not looked for
/// long, the sender unpacks what lies there, unless somebody holds the heap's lock.
///
/// The owner may leave between the push and the look at its standing: then the parcel waits in the
/// inbox for the next thread that adopts the heap, or for the purger.
///
/// # Safety
/// The parcel is the caller's, in no list, and holds blocks of `to`, a heap.
pub unsafe fn deliver(to: *mut Heap, parcel: *mut Parcel) {
    // SAFETY: the caller's contract; heaps are never freed; mail is settled with the lock held.
    unsafe {
        let depth = (*to).inbox().push(parcel);
        STIRRED.add_unlocked(&*to);
        let unattended = (*to).standing() != Standing::Attached;
        if (unattended || depth > DEEP_INBOX)
            && let Some(mut locked) = Heap::try_enter(to)
        {
            locked.settle_mail();
        }
    }
}
