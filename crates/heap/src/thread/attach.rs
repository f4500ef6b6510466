//! Finding or making a thread's heap, and leaving it.

use crate::base::settings;
use crate::heap::heap::{Heap, Standing};
use crate::heap::locked::LockedHeap;
use crate::heap::post;
use crate::heap::slot::{AFTER, BEFORE, own, slot};
use crate::thread::idle::Idle;
use crate::thread::shared;
use allod_os::thread::{self, ExitHook};
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering, Ordering::Relaxed};

/// Heaps of ended threads.
pub static IDLE: Idle = Idle::new(Standing::Orphan);
static HOOK: ExitHook = ExitHook::new();
static REGISTERED: AtomicBool = AtomicBool::new(false);
/// How often a thread's exit hook defers itself, so that other destructors run first.
const PUT_OFF: usize = 2;

/// The first thread of the process, by its thread pointer; 0 while it has no heap, and [`LEFT`] when it
/// has ended, or is about to.
static FIRST: AtomicUsize = AtomicUsize::new(0);
const LEFT: usize = 1;

/// Which heap a slow path may use.
pub enum Here {
    /// The thread's own heap, with its front caches.
    Own(*mut Heap),
    /// A shared heap that must be locked: the thread has ended, or no heap was available.
    Shared(*mut Heap),
    /// No memory for a heap.
    Nothing,
}

/// The heap for the calling thread's slow path, found or made.
#[inline]
pub fn here() -> Here {
    let h = slot::get();
    if h == BEFORE.address() {
        return attach();
    }
    if h == AFTER.address() {
        return elsewhere();
    }
    Here::Own(h)
}

/// The heap that serves a thread that has none, or whose own is in the middle of a change.
#[cold]
pub fn elsewhere() -> Here {
    shared::late().map_or(Here::Nothing, Here::Shared)
}

#[cold]
fn attach() -> Here {
    // Before the heap is made, because the knobs decide what it gets.
    settings::read();
    let adopted = IDLE.adopt(Standing::Born);
    let h = if adopted.is_null() { Heap::create(Standing::Born) } else { adopted };
    if h.is_null() {
        return elsewhere();
    }
    // SAFETY: the heap is ours alone now.
    unsafe {
        (*h).set_thread_number(thread::number());
        Idle::attach(h, thread::pointer());
    }
    slot::set(h);
    note_first();
    prepare();
    // The C library may allocate here; the slot already serves it.
    HOOK.arm(PUT_OFF + 1);
    Here::Own(h)
}

/// Registers the exit hook. Called when the library is loaded, before there is a second thread.
pub fn prepare() {
    if !REGISTERED.swap(true, Ordering::AcqRel) {
        HOOK.register(on_thread_exit);
    }
}

unsafe extern "C" fn on_thread_exit(left: *mut c_void) {
    let left = left as usize - 1;
    if left > 0 {
        HOOK.arm(left);
        return;
    }
    let Some(h) = own() else { return };
    if FIRST.load(Relaxed) == thread::pointer() {
        FIRST.store(LEFT, Relaxed);
    }
    // SAFETY: the heap is the calling thread's own; it leaves the slot before it is left.
    unsafe {
        slot::set(AFTER.address());
        send_all(h);
        IDLE.leave(h, mark_left);
    }
}

/// Notes the first thread of the process at its first allocation.
fn note_first() {
    if FIRST.load(Relaxed) == 0 && thread::is_first() {
        FIRST.store(thread::pointer(), Relaxed);
    }
}

/// False while the first thread of the process lives; true where it has ended, or never had a heap.
pub fn first_may_have_ended() -> bool {
    matches!(FIRST.load(Relaxed), 0 | LEFT)
}

/// In a forked child, whose first thread is the calling one.
pub fn forked() {
    let first = if own().is_some() { thread::pointer() } else { 0 };
    FIRST.store(first, Relaxed);
}

/// Notes when a heap's thread ended, so that the purger can empty it later.
pub fn mark_left(locked: &mut LockedHeap<'_>) {
    locked.stir();
    locked.inside().left_at = settings::now().max(1);
}

/// Sends everything a thread has collected for others.
///
/// # Safety
/// `me` is the calling thread's own heap.
pub unsafe fn send_all(me: *mut Heap) {
    // SAFETY: the caller's contract; a parcel that was taken out is ours until it is delivered.
    unsafe {
        loop {
            // If the helper has claimed them, it sends them, in this turn or the next.
            let Some(lease) = (*me).lease().begin() else { return };
            let next = Heap::outgoing(me).take_any();
            drop(lease);
            let Some(sending) = next else { return };
            post::deliver(sending.to, sending.parcel);
        }
    }
}
