//! Around a fork: the child gets heaps in a consistent state, and takes over what other threads leave there.

use crate::base::spare_stack;
use crate::base::sync::{AtomicU32, Ordering::Relaxed, process_wide};
use crate::heap::heap::{Heap, STIRRED, Standing, each_heap};
use crate::heap::slot::{own, slot};
use crate::mail::parcel::POOL;
use crate::map::far::FAR;
use crate::purge::{layers, policy};
use crate::source::SOURCE;
use crate::thread::attach::{IDLE, mark_left};
use crate::thread::shared::RETIRED;
use allod_os::thread;

process_wide! {
    /// Forks that began inside the one for which this thread holds the locks: in a handler that runs after
    /// `before`. Changed by that thread only.
    static NESTED: AtomicU32 = AtomicU32::new(0);
}

/// Takes every lock, in order, so that the child gets heaps in a consistent state. The locks are lent to this thread:
/// handlers that run after this one, before the fork or in parent or child, may allocate.
///
/// If a signal interrupted the thread in the heap and the handler forks, the thread already holds locks, out of
/// order. It waits only for those whose holders never wait for what it holds; any other that it does not
/// get guards something that the child does not use.
pub extern "C" fn before() {
    if layers::COMING.is_lent_here() {
        // Consistent already, and held until the outer fork ends.
        NESTED.store(NESTED.load(Relaxed) + 1, Relaxed);
        return;
    }
    let source_is_mine = SOURCE.interrupted_here();
    // Another thread that forks may hold this one, and wait for what a layer holds here.
    layers::COMING.hold_for_fork(!is_interrupted());
    let patient = !is_interrupted_in_heap();
    layers::each(|layer| (layer.before)());
    IDLE.lock().hold_for_fork(patient);
    RETIRED.lock().hold_for_fork(patient);
    // A heap made meanwhile is not locked; its maker finishes, or waits below.
    each_usable(|h| h.lock().hold_for_fork(patient));
    POOL.lock().hold_for_fork(!source_is_mine);
    FAR.lock().hold_for_fork(!source_is_mine);
    SOURCE.hold_for_fork(true);
}

/// True when a signal interrupted the calling thread in the heap or a layer above it: it must wait for no thread
/// then that may wait for it.
pub fn is_interrupted() -> bool {
    is_interrupted_in_heap() || layers::is_interrupted()
}

/// The same for the heap alone, whose locks are taken last.
fn is_interrupted_in_heap() -> bool {
    let mut interrupted = SOURCE.interrupted_here()
        || POOL.lock().interrupted_here()
        || FAR.lock().interrupted_here();
    each_usable(|h| interrupted |= h.lock().interrupted_here());
    interrupted
}

/// Calls `f` for every heap except those that an earlier fork has left behind.
fn each_usable(mut f: impl FnMut(&Heap)) {
    each_heap(|h| {
        // SAFETY: heaps are never freed; only what is for all threads is used of them.
        let h = unsafe { &*h };
        if h.standing() != Standing::Lost {
            f(h);
        }
    });
}

/// Releases the locks in the parent.
pub extern "C" fn in_parent() {
    if layers::COMING.is_lent_here() && NESTED.load(Relaxed) > 0 {
        NESTED.store(NESTED.load(Relaxed) - 1, Relaxed);
        return;
    }
    SOURCE.forked_in_parent();
    FAR.lock().release_after_fork();
    POOL.lock().release_after_fork();
    // Only what was taken for the fork is released.
    each_usable(|h| h.lock().release_after_fork());
    RETIRED.lock().release_after_fork();
    IDLE.lock().release_after_fork();
    layers::each(|layer| (layer.in_parent)());
    layers::COMING.release_after_fork();
}

/// Releases the locks in the child, and makes orphans of the heaps whose threads do not exist there.
pub extern "C" fn in_child() {
    // There is nobody else who could change anything before an outer fork.
    NESTED.store(0, Relaxed);
    SOURCE.forked_in_child();
    // These lists are consistent at every moment, so it does not matter where another thread was.
    POOL.lock().reset_in_child();
    FAR.lock().reset_in_child();
    RETIRED.lock().reset_in_child();
    IDLE.lock().reset_in_child();
    let me = slot::get();
    // SAFETY: the child has one thread. A front cache that a fork caught between the two stores of a
    // fast path loses one block at most.
    each_heap(|h| unsafe { adopt_into_child(h, me) });
    STIRRED.forked();
    // SAFETY: as above.
    each_heap(|h| unsafe {
        STIRRED.add_again(&*h);
        (*h).lease().forked(h == me);
    });
    policy::forked();
    spare_stack::forked();
    layers::each(|layer| (layer.in_child)());
    layers::COMING.reset_in_child();
}

unsafe fn adopt_into_child(h: *mut Heap, me: *mut Heap) {
    // SAFETY: the caller's contract.
    unsafe {
        if (*h).lock().interrupted_here() {
            // This thread's own change, which it may finish.
            return Heap::abandon_borrowed(h);
        }
        (*h).lock().release_after_fork();
        let Some(mut locked) = Heap::try_enter(h) else {
            // In the middle of a change by a thread that does not exist here.
            (*h).set_thread(0);
            return (*h).set_standing(Standing::Lost);
        };
        locked.inside().slabs.return_borrowed_by_others();
        // A heap that this thread was about to attach or leave stays its own: its slot holds none then.
        let left = match (*h).standing() {
            Standing::Attached => h != me && (*h).thread() != thread::pointer(),
            Standing::Born => own().is_some(),
            _ => false,
        };
        if left {
            mark_left(&mut locked);
            drop(locked);
            IDLE.put(h);
        }
    }
}
