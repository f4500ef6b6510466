//! Parcels of threads that are idle, sent by the helper.
//!
//! A thread sends a parcel when it is full, and the rest when it ends. If it goes idle with some partly full,
//! the helper takes those that have not changed from one turn to the next. `mail/lease` says
//! how the two stay out of each other's way.

use crate::heap::heap::{Heap, STIRRED};
use crate::purge::sandbox;
use allod_os::barrier::heavy_barrier;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// True once the system has refused the barrier, or might kill the process for it.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// Sends what idle threads have not sent. True while other threads have unsent parcels.
pub fn send<I: Iterator<Item = *mut Heap>>(heaps: impl Fn() -> I) -> bool {
    if REFUSED.load(Relaxed) {
        return false;
    }
    let (mut waiting, mut found) = (false, false);
    // SAFETY: heaps are never freed.
    for h in heaps().filter(|&h| unsafe { Heap::has_unsent(h) }) {
        waiting = true;
        // SAFETY: as above.
        found |= unsafe { (*h).lease().revoke_if_idle() };
    }
    if !found {
        return waiting;
    }
    let ordered = !sandbox::is_there() && heavy_barrier();
    REFUSED.store(!ordered, Relaxed);
    for h in heaps() {
        // SAFETY: as above.
        unsafe {
            if (*h).lease().is_revoked() {
                if ordered {
                    send_from(h);
                }
                (*h).lease().restore();
            }
        }
    }
    ordered
}

/// Sends what a heap's thread has collected, if the helper may take it. With the heap's lock held, so
/// that a fork finds each parcel in one place.
unsafe fn send_from(h: *mut Heap) {
    // SAFETY: heaps are never freed. The lease is taken: the thread does not touch its parcels.
    unsafe {
        let Some(_locked) = Heap::try_enter(h) else { return };
        if !(*h).lease().is_taken() {
            return;
        }
        while let Some(sending) = Heap::outgoing(h).take_any() {
            (*sending.to).inbox().push(sending.parcel);
            STIRRED.add_unlocked(&*sending.to);
        }
    }
}
