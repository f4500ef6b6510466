//! Around a fork: the child gets heaps at rest, and takes over what other threads leave there.

use crate::heap::heap::{Heap, Standing, each_heap};
use crate::heap::slot::slot;
use crate::mail::parcel::POOL;
use crate::purge::policy;
use crate::source::SOURCE;
use crate::thread::attach::{IDLE, mark_left};
use crate::thread::shared::RETIRED;

/// Takes every lock, in order, so that the child gets heaps at rest. The locks are lent to this thread:
/// handlers that run after this one, before the fork or in parent or child, may allocate.
///
/// A thread that a signal interrupted in the heap, and whose handler forks, holds locks already, out of
/// order. It waits for no other then, or two might wait for each other; what it does not get, the
/// child does not use.
pub extern "C" fn before() {
    let mut patient = !SOURCE.interrupted_here() && !POOL.lock().interrupted_here();
    // SAFETY: heaps are never freed.
    each_heap(|h| unsafe { patient &= !(*h).lock().interrupted_here() });
    IDLE.lock().hold_for_fork(true);
    RETIRED.lock().hold_for_fork(true);
    // SAFETY: as above. A heap made meanwhile is not locked; its maker finishes, or waits below.
    each_heap(|h| unsafe { (*h).lock().hold_for_fork(patient) });
    POOL.lock().hold_for_fork(true);
    SOURCE.hold_for_fork(true);
}

/// Releases the locks in the parent.
pub extern "C" fn in_parent() {
    SOURCE.forked_in_parent();
    POOL.lock().release_after_fork();
    // SAFETY: as in `before`. Only what was taken for the fork is released.
    each_heap(|h| unsafe { (*h).lock().release_after_fork() });
    RETIRED.lock().release_after_fork();
    IDLE.lock().release_after_fork();
}

/// Releases the locks in the child, and makes orphans of the heaps whose threads do not exist in the child.
pub extern "C" fn in_child() {
    SOURCE.forked_in_child();
    POOL.lock().release_after_fork();
    let me = slot::get();
    // SAFETY: the child has one thread. A front cache that a fork caught between the two stores of a
    // fast path loses one block at most.
    each_heap(|h| unsafe { adopt_into_child(h, me) });
    RETIRED.lock().release_after_fork();
    IDLE.lock().release_after_fork();
    policy::forked();
}

unsafe fn adopt_into_child(h: *mut Heap, me: *mut Heap) {
    // SAFETY: the caller's contract.
    unsafe {
        if (*h).lock().interrupted_here() {
            // This thread's own change, which it may finish.
            return;
        }
        (*h).lock().release_after_fork();
        let attached = (*h).standing() == Standing::Attached;
        let Some(mut locked) = Heap::try_enter(h) else {
            // In the middle of a change by a thread that does not exist here.
            (*h).set_thread(0);
            return (*h).set_standing(Standing::Lost);
        };
        locked.inside().slabs.return_borrowed_by_others();
        if h != me && attached {
            mark_left(&mut locked);
            (*h).set_thread(0);
            (*h).set_standing(Standing::Orphan);
            drop(locked);
            IDLE.put(h);
        }
    }
}
