//! The inbox of a heap: a stack of parcels onto which many threads push and from which one takes all.

use crate::base::sync::{AtomicPtr, Ordering, const_fn};
use crate::mail::parcel::Parcel;
use core::ptr;

/// Where other threads leave parcels for the owner of a heap.
#[derive(Debug)]
pub struct Inbox {
    head: AtomicPtr<Parcel>,
}

impl Inbox {
    const_fn! {
        /// An empty inbox.
        pub fn new() -> Inbox {
            Inbox { head: AtomicPtr::new(ptr::null_mut()) }
        }
    }

    /// Leaves a parcel. Returns roughly how many are waiting there now.
    ///
    /// # Safety
    /// The parcel is the caller's and in no list; it is the taker's afterwards.
    pub unsafe fn push(&self, parcel: *mut Parcel) -> u32 {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            // SAFETY: the parcel is ours until the exchange succeeds. Reading the depth of `head`
            // is safe although a taker may have it by now: parcels are never unmapped, and a stale
            // number only misjudges the depth.
            let depth = unsafe {
                let below = if head.is_null() { 0 } else { (*head).depth.load(Ordering::Relaxed) };
                (*parcel).next = head;
                (*parcel).depth.store(below.wrapping_add(1), Ordering::Relaxed);
                below.wrapping_add(1)
            };
            // Release: the taker sees the contents. (ABA is harmless: nothing is ever popped singly.)
            match self.head.compare_exchange_weak(
                head,
                parcel,
                Ordering::Release,
                Ordering::Acquire,
            ) {
                Ok(_) => return depth,
                Err(now) => head = now,
            }
        }
    }

    /// True when no parcel is waiting. A hint: parcels may arrive at any time.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head.load(Ordering::Relaxed).is_null()
    }

    /// Takes all parcels, newest first, linked by `next`.
    pub fn take_all(&self) -> *mut Parcel {
        self.head.swap(ptr::null_mut(), Ordering::Acquire)
    }
}
