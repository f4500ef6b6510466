//! What each thread keeps: up to 32 reusable regions and a few small chunks.
//!
//! Reached through the thread slot in two instructions. Every thread starts with a shared empty state
//! that is never written; the first region a thread needs gives it its own, which an exit hook empties.

use crate::chunk::Chunk;
use crate::control::Control;
use crate::slots::{self, SlotKind};
use allod_os::lock::Lock;
use allod_os::thread::{self, ExitHook};
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};

/// Regions a thread keeps for reuse.
pub const POOLED: u32 = 32;
/// Chunks of each small size that a thread keeps.
const CACHED: u32 = 8;

/// A thread's state.
#[repr(C)]
#[derive(Debug)]
pub struct Thread {
    regions: *mut Control,
    /// How many more regions may be pooled.
    room: u32,
    chunk_room: [u32; 2],
    chunks: [*mut Chunk; 2],
}

/// The state every thread starts with: nothing in it and no room.
struct Empty(Thread);
// SAFETY: never written.
unsafe impl Sync for Empty {}
static EMPTY: Empty = Empty(Thread {
    regions: ptr::null_mut(),
    room: 0,
    chunk_room: [0; 2],
    chunks: [ptr::null_mut(); 2],
});

allod_os::thread_slot! {
    /// The calling thread's state.
    pub(crate) mod slot: *mut Thread = EMPTY, symbol "allod_region_thread"
}

static HOOK: ExitHook = ExitHook::new();
static HOOKED: AtomicBool = AtomicBool::new(false);
static HOOKING: Lock = Lock::new();

/// A pooled region of the calling thread, or a new one; null when memory is out.
#[inline(always)]
pub(crate) fn get() -> *mut Control {
    let t = slot::get();
    // SAFETY: the thread's own state; pooled regions are valid.
    unsafe {
        let r = (*t).regions;
        if r.is_null() {
            return new_region();
        }
        (*t).regions = (*r).next;
        (*t).room += 1;
        r
    }
}

/// Keeps an empty region for reuse, or gives its memory back when the pool is full.
///
/// # Safety
/// `r` is reset, the caller's alone, and never used again by it.
#[inline(always)]
pub(crate) unsafe fn put(r: *mut Control) {
    let t = slot::get();
    // SAFETY: the thread's own state; the caller's contract.
    unsafe {
        if (*t).room == 0 {
            return drop_region(r);
        }
        (*t).room -= 1;
        (*r).next = (*t).regions;
        (*t).regions = r;
    }
}

#[cold]
#[inline(never)]
unsafe fn drop_region(r: *mut Control) {
    // SAFETY: the caller gives the block up.
    unsafe { slots::give(r.cast(), SlotKind::Block) }
}

#[cold]
#[inline(never)]
fn new_region() -> *mut Control {
    own_state();
    let Some(slot) = slots::take(SlotKind::Block) else { return ptr::null_mut() };
    let r: *mut Control = slot.memory.cast();
    // SAFETY: a new slot is the caller's alone.
    unsafe {
        Control::init(r);
        (*slot.owner).store(r, core::sync::atomic::Ordering::Relaxed);
    }
    r
}

/// Gives the thread a state of its own. Without memory it keeps the empty one, which pools nothing.
fn own_state() {
    if !ptr::eq(slot::get(), &EMPTY.0) {
        return;
    }
    if !HOOKED.load(Acquire) {
        HOOKING.with(|| {
            if !HOOKED.load(Acquire) {
                HOOK.register(end_of_thread);
                thread::at_fork(before_fork, after_fork, after_fork);
                HOOKED.store(true, Release);
            }
        });
    }
    let t: *mut Thread = allod_heap::malloc(size_of::<Thread>()).cast();
    if t.is_null() {
        return;
    }
    // SAFETY: new memory of the right size.
    unsafe {
        t.write(Thread {
            regions: ptr::null_mut(),
            room: POOLED,
            chunk_room: [CACHED; 2],
            chunks: [ptr::null_mut(); 2],
        });
    }
    slot::set(t);
    HOOK.arm(t as usize);
}

/// Gives back what an ending thread kept. Regions that others hold are not in its pool.
unsafe extern "C" fn end_of_thread(t: *mut c_void) {
    let t: *mut Thread = t.cast();
    slot::set((&raw const EMPTY.0).cast_mut());
    // SAFETY: the state was the thread's own and nobody uses it any more.
    unsafe {
        let mut r = (*t).regions;
        while !r.is_null() {
            let next = (*r).next;
            slots::give(r.cast(), SlotKind::Block);
            r = next;
        }
        for (i, kind) in [SlotKind::Chunk4K, SlotKind::Chunk16K].into_iter().enumerate() {
            let mut c = (*t).chunks[i];
            while !c.is_null() {
                let next = (*c).newer;
                slots::give(c.cast(), kind);
                c = next;
            }
        }
        allod_heap::free(t.cast());
    }
}

extern "C" fn before_fork() {
    slots::LOCK.lock();
    crate::symbol::before_fork();
}

extern "C" fn after_fork() {
    crate::symbol::after_fork();
    slots::LOCK.unlock();
}

/// A chunk the thread kept; null when it has none of the kind.
pub(crate) fn cached_chunk(kind: SlotKind) -> *mut Chunk {
    let (t, i) = (slot::get(), kind as usize - 1);
    // SAFETY: the thread's own state; an empty state has no chunks.
    unsafe {
        let c = (*t).chunks[i];
        if !c.is_null() {
            (*t).chunks[i] = (*c).newer;
            (*t).chunk_room[i] += 1;
        }
        c
    }
}

/// Keeps a chunk for reuse; false when the thread has enough.
///
/// # Safety
/// The chunk is the caller's and nothing in it is used any more.
pub(crate) unsafe fn cache_chunk(c: *mut Chunk, kind: SlotKind) -> bool {
    let (t, i) = (slot::get(), kind as usize - 1);
    // SAFETY: the thread's own state; the empty state has no room.
    unsafe {
        if (*t).chunk_room[i] == 0 {
            return false;
        }
        (*t).chunk_room[i] -= 1;
        (*c).newer = (*t).chunks[i];
        (*t).chunks[i] = c;
        true
    }
}

/// Regions in the calling thread's pool.
pub fn pooled() -> usize {
    let t = slot::get();
    // SAFETY: the thread's own state.
    unsafe { if ptr::eq(t, &EMPTY.0) { 0 } else { (POOLED - (*t).room) as usize } }
}
