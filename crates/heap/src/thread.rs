//! Threads come, go and fork: which heap a thread uses, and what happens to it afterwards.
//!
//! A thread gets a heap at its first allocation: one that an ended thread left behind (whole, with
//! its caches, slabs and waiting mail), or a new one. When the thread ends, an exit hook sends what
//! is outgoing and leaves the heap to the next. Should the thread
//! allocate again after that, in a later destructor, it is served by one shared heap under its lock.

use crate::class::CLASSES;
use crate::first_class;
use crate::heap::{Heap, SharedWord, Standing, each_heap};
use crate::idle::Idle;
use crate::purge;
use crate::remote::POOL;
use crate::settings;
use crate::slow;
use crate::source::SOURCE;
use allod_os::thread::{self, ExitHook};
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, Ordering};

static BOTTOM: SharedWord = SharedWord(0);

/// A heap that is never written to.
#[repr(transparent)]
pub struct StaticHeap(Heap);
// SAFETY: every fast path on it fails without writing, and slow paths recognise it by address.
unsafe impl Sync for StaticHeap {}

/// What a thread's slot holds before its first allocation.
pub static BEFORE: StaticHeap = StaticHeap(Heap::nothing(&raw const BOTTOM));
/// What a thread's slot holds after its exit hook has run.
pub static AFTER: StaticHeap = StaticHeap(Heap::nothing(&raw const BOTTOM));

allod_os::thread_slot! {
    /// The calling thread's heap.
    pub mod slot: *mut Heap = BEFORE, symbol "allod_heap_thread_slot_v1"
}

/// Heaps of ended threads.
static IDLE: Idle = Idle::new();
static HOOK: ExitHook = ExitHook::new();
static STARTED: AtomicBool = AtomicBool::new(false);
/// Times a thread's exit hook puts itself off, so that other destructors come first.
const PUT_OFF: usize = 2;

/// Where a slow path stands: which heap it may use.
pub enum Here {
    /// The thread's own heap, with its front caches.
    Own(*mut Heap),
    /// A shared heap that must be locked: the thread has ended, or no heap could be had.
    Shared(*mut Heap),
    /// No memory for a heap.
    Nothing,
}

/// The heap for the calling thread's slow path, found or made.
pub fn here() -> Here {
    let h = slot::get();
    if h == (&raw const BEFORE.0).cast_mut() {
        return attach();
    }
    if h == (&raw const AFTER.0).cast_mut() {
        return match first_class::late_heap() {
            Some(h) => Here::Shared(h),
            None => Here::Nothing,
        };
    }
    Here::Own(h)
}

/// The calling thread's own heap if it has one now; makes none.
pub fn own() -> Option<*mut Heap> {
    let h = slot::get();
    let none = h == (&raw const BEFORE.0).cast_mut() || h == (&raw const AFTER.0).cast_mut();
    (!none).then_some(h)
}

#[cold]
fn attach() -> Here {
    // Before the heap is made, for the knobs decide what it gets.
    settings::read();
    let adopted = IDLE.adopt();
    let h = if adopted.is_null() { Heap::create() } else { adopted };
    if h.is_null() {
        return match first_class::late_heap() {
            Some(h) => Here::Shared(h),
            None => Here::Nothing,
        };
    }
    // SAFETY: the heap is ours alone now.
    unsafe { Idle::attach(h, thread::pointer()) };
    slot::set(h);
    if !STARTED.swap(true, Ordering::AcqRel) {
        start();
    }
    // The C library may allocate here; the slot already serves it.
    HOOK.arm(PUT_OFF + 1);
    Here::Own(h)
}

/// Runs once, on the first thread that allocates, with its heap in place.
fn start() {
    HOOK.register(on_thread_exit);
    thread::at_fork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/// Reads the settings unless an earlier allocation has. A constructor, so that the C library has its
/// environment by then; what is allocated before that runs on the defaults.
extern "C" fn on_load() {
    settings::read();
    crate::stats::prepare_report();
}

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

unsafe extern "C" fn on_thread_exit(left: *mut c_void) {
    let left = left as usize - 1;
    if left > 0 {
        HOOK.arm(left);
        return;
    }
    if let Some(h) = own() {
        slot::set((&raw const AFTER.0).cast_mut());
        leave(h);
    }
}

/// Hands a heap to the next thread, front caches and all; the purger empties it if none comes.
fn leave(h: *mut Heap) {
    // SAFETY: the heap is the calling thread's own, and no longer in its slot.
    unsafe {
        slow::send_all(h);
        IDLE.leave(h, |h| (*h).left_at = settings::now().max(1));
    }
}

/// Returns all blocks in the front caches to their slabs.
///
/// # Safety
/// `h` is locked and its bins are the caller's.
pub unsafe fn empty_caches(h: *mut Heap) {
    for class in 0..CLASSES {
        // SAFETY: entries between base and top are blocks of this heap.
        unsafe {
            let cache = Heap::cache(h, class);
            crate::slab::give(h, core::slice::from_raw_parts(cache.entries(), cache.len()));
            cache.set_len(0);
        }
    }
}

/// Takes every lock, in order, so that the child gets a heap at rest.
extern "C" fn before_fork() {
    first_class::LOCK.lock();
    IDLE.lock.lock();
    // SAFETY: heaps are never freed. A heap made meanwhile is not locked, but it is in use by no
    // other thread that is inside it, or its maker waits for the source's lock.
    each_heap(|h| unsafe { (*h).lock.lock() });
    POOL.lock.lock();
    SOURCE.lock.lock();
}

extern "C" fn after_fork_in_parent() {
    SOURCE.lock.unlock();
    POOL.lock.unlock();
    // SAFETY: as in `before_fork`; unlocking an unlocked lock is harmless.
    each_heap(|h| unsafe { (*h).lock.unlock() });
    IDLE.lock.unlock();
    first_class::LOCK.unlock();
}

/// Besides releasing the locks, makes orphans of the heaps whose threads do not exist in the child.
extern "C" fn after_fork_in_child() {
    SOURCE.lock.unlock();
    POOL.lock.unlock();
    let me = slot::get();
    each_heap(|h| {
        // SAFETY: the child has one thread, and the locks taken before the fork kept every slow
        // path out. A front cache interrupted between its two stores loses one block at most.
        unsafe {
            (*h).lock.unlock();
            if h != me && (*h).standing() == Standing::Attached {
                (*h).left_at = settings::now().max(1);
                IDLE.orphan(h);
            }
        }
    });
    IDLE.lock.unlock();
    first_class::LOCK.unlock();
    purge::forked();
}
