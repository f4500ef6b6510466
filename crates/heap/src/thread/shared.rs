//! Shared heaps: the one that serves threads without a heap of their own, and destroyed
//! first-class heaps that wait to be used again.

use crate::heap::heap::{Heap, Standing};
use crate::thread::idle::Idle;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

/// Destroyed first-class heaps.
pub static RETIRED: Idle = Idle::new(Standing::Retired);
static LATE: AtomicPtr<Heap> = AtomicPtr::new(ptr::null_mut());

/// The heap that serves threads after their exit hook, and signal handlers that interrupted their
/// thread's own heap; `None` when memory is out.
pub fn late() -> Option<*mut Heap> {
    let late = LATE.load(Ordering::Acquire);
    // SAFETY: heaps are never freed.
    if unsafe { late.as_ref() }.is_some_and(is_usable) {
        return Some(late);
    }
    let new = make()?;
    let first = LATE.compare_exchange(late, new, Ordering::AcqRel, Ordering::Acquire);
    match first {
        Ok(_) => Some(new),
        Err(other) => {
            // SAFETY: nobody else knows the new heap.
            unsafe { retire(new) };
            Some(other)
        }
    }
}

/// False for a heap that a fork has left behind, and for one in which a signal interrupted the calling thread.
fn is_usable(h: &Heap) -> bool {
    h.standing() != Standing::Lost && !h.lock().interrupted_here()
}

/// A shared heap, new or reused; `None` when memory is out.
pub fn make() -> Option<*mut Heap> {
    let mut h = RETIRED.adopt(Standing::Shared);
    if h.is_null() {
        h = Heap::create(Standing::Shared);
    }
    (!h.is_null()).then_some(h)
}

/// Keeps a shared heap, which has no blocks, for the next use.
///
/// # Safety
/// Nobody uses the heap any more.
pub unsafe fn retire(h: *mut Heap) {
    // SAFETY: the caller's contract.
    unsafe { RETIRED.put(h) };
}
