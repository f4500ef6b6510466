//! What happens to the whole process: load, fork, exit, and system calls that the heap must know of.

use crate::base::settings;
use crate::face::stats;
use crate::heap::heap::{Heap, Standing, each_heap};
use crate::heap::slot::slot;
use crate::mail::parcel::POOL;
use crate::map::far::FAR;
use crate::purge::policy;
use crate::source::SOURCE;
use crate::thread::attach::{self, IDLE, mark_left};
use crate::thread::shared::RETIRED;
use allod_os::thread;
use core::sync::atomic::{AtomicBool, Ordering::AcqRel};

static PREPARED: AtomicBool = AtomicBool::new(false);

/// Reads the settings unless an earlier allocation has, and prepares for what happens to the process,
/// before the program can register fork handlers of its own. A constructor, so that the C library
/// has its environment by then; what is allocated before that runs on the defaults.
extern "C" fn on_load() {
    settings::read();
    stats::prepare_report();
    prepare();
}

/// Registers the heap's fork handlers and thread-exit hook, and keeps the library that holds this code
/// loaded for ever, since they point into it. Done when the library is loaded; whoever registers fork
/// handlers that take locks before the heap's calls it first. Thread-safe; once is enough.
pub fn prepare() {
    if !PREPARED.swap(true, AcqRel) {
        attach::prepare();
        thread::at_fork(before_fork, after_fork_in_parent, after_fork_in_child);
        thread::stay_loaded(on_load);
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

/// Takes every lock, in order, so that the child gets heaps at rest. The locks are lent to this thread:
/// handlers that run after this one, before the fork or in parent or child, may allocate.
///
/// A thread that a signal interrupted in the heap, and whose handler forks, holds locks already, out of
/// order. It waits only for those whose holders never wait for what it holds; what else it does not
/// get, the child does not use.
extern "C" fn before_fork() {
    let source_is_mine = SOURCE.interrupted_here();
    let mut patient = !source_is_mine;
    each_usable(|h| patient &= !h.lock().interrupted_here());
    IDLE.lock().hold_for_fork(patient);
    RETIRED.lock().hold_for_fork(patient);
    // A heap made meanwhile is not locked; its maker finishes, or waits below.
    each_usable(|h| h.lock().hold_for_fork(patient));
    POOL.hold_for_fork(!source_is_mine);
    FAR.lock().hold_for_fork(!source_is_mine);
    SOURCE.hold_for_fork(true);
}

/// Calls `f` for every heap but those that an earlier fork has left behind.
fn each_usable(mut f: impl FnMut(&Heap)) {
    each_heap(|h| {
        // SAFETY: heaps are never freed; only what is for all threads is used of them.
        let h = unsafe { &*h };
        if h.standing() != Standing::Lost {
            f(h);
        }
    });
}

extern "C" fn after_fork_in_parent() {
    SOURCE.forked_in_parent();
    FAR.lock().release_after_fork();
    POOL.release_after_fork();
    // Only what was taken for the fork is released.
    each_usable(|h| h.lock().release_after_fork());
    RETIRED.lock().release_after_fork();
    IDLE.lock().release_after_fork();
}

/// Besides releasing the locks, makes orphans of the heaps whose threads do not exist in the child.
extern "C" fn after_fork_in_child() {
    SOURCE.forked_in_child();
    // These lists are whole at every moment, so it does not matter where another thread stood.
    POOL.forked_in_child();
    FAR.lock().reset_in_child();
    RETIRED.lock().reset_in_child();
    IDLE.lock().reset_in_child();
    let me = slot::get();
    // SAFETY: the child has one thread. A front cache that a fork caught between the two stores of a
    // fast path loses one block at most.
    each_heap(|h| unsafe { adopt_into_child(h, me) });
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

/// Prints the report at exit when `ALLOD_STATS=1`.
extern "C" fn at_exit() {
    stats::report();
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

/// Makes a system call that a process with two threads may not make, such as `unshare`, without the
/// helper thread. `again` says of the result that the kernel still saw two.
pub fn without_helper<R>(call: impl Fn() -> R, again: impl Fn(&R) -> bool) -> R {
    policy::without_helper(call, again)
}

/// Told that a seccomp filter is about to be installed: the helper is not started any more.
pub fn expect_sandbox() {
    policy::expect_sandbox();
}

/// Told that memory is about to be locked (`mlockall`): reserved addresses are given up, and with
/// `future` the pages of memory opened from now on are locked, too.
pub fn expect_locked_memory(future: bool) {
    SOURCE.prepare_for_locked_memory(future);
}

/// Told that the address space of the process is about to be limited (`setrlimit`): reserved addresses
/// that are not in use are given up, for they would count.
pub fn expect_limited_addresses() {
    SOURCE.give_up_reservation();
}

/// Told that memory opened from now on need not be locked (`munlockall`).
pub fn expect_unlocked_memory() {
    SOURCE.stop_locking_memory();
}
