//! What each thread keeps: up to 32 reusable regions, a few small chunks, the symbols it met lately.
//!
//! The pool is a stack, so that the region left last, whose memory is warm, is handed out next. A
//! thread with more regions open than fit in it takes and gives blocks in batches. Reached through the thread slot in two instructions. Every thread starts with a shared empty state
//! that is never written; the first region a thread needs gives it its own, which an exit hook empties.

use crate::chunk::Chunk;
use crate::control::Control;
use crate::slots::{self, SlotKind};
use crate::symbol::{self, Recent};
use allod_os::lock::Lock;
use allod_os::thread::{self, ExitHook};
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};

/// Regions a thread keeps for reuse.
pub const POOLED: usize = 32;
/// Blocks that go to and from the shared spans at once, so that the lock is taken once for many.
/// Chosen by `allod bench region --only many-small-regions`.
const BATCH: usize = 16;
/// Chunks of each small size that a thread keeps.
const CACHED: u32 = 8;

/// A thread's state.
#[repr(C)]
#[derive(Debug)]
pub struct Thread {
    /// How many regions are pooled: the first so many of `regions`, the last of them the most recent.
    pooled: usize,
    /// How many may be.
    most: usize,
    regions: [*mut Control; POOLED],
    /// Blocks to take when the pool is next empty; doubles up to [`BATCH`].
    batch: usize,
    chunk_room: [u32; 2],
    chunks: [*mut Chunk; 2],
    recent: *mut Recent,
}

impl Thread {
    const fn new(most: usize, cached: u32, recent: *mut Recent) -> Thread {
        Thread {
            pooled: 0,
            most,
            regions: [ptr::null_mut(); POOLED],
            batch: 1,
            chunk_room: [cached; 2],
            chunks: [ptr::null_mut(); 2],
            recent,
        }
    }
}

/// The state every thread starts with: nothing in it and no room.
struct Empty(Thread);
// SAFETY: never written.
unsafe impl Sync for Empty {}
static EMPTY: Empty = Empty(Thread::new(0, 0, symbol::NOTHING_RECENT));

allod_os::thread_slot! {
    /// The calling thread's state.
    pub(crate) mod slot: *mut Thread = EMPTY, symbol "allod_region_thread"
}

static HOOK: ExitHook = ExitHook::new();
static HOOKED: AtomicBool = AtomicBool::new(false);
static HOOKING: Lock = Lock::new();

/// A pooled region of the calling thread, or a new one; null when memory is out. The thread is its
/// owner.
#[inline(always)]
pub(crate) fn get() -> *mut Control {
    let t = slot::get();
    // SAFETY: the thread's own state; the first `pooled` entries are regions.
    unsafe {
        let n = (*t).pooled;
        if n == 0 {
            return refill();
        }
        (*t).pooled = n - 1;
        *(&raw const (*t).regions).cast::<*mut Control>().add(n - 1)
    }
}

/// Keeps an empty region for reuse, or gives memory back when the pool is full.
///
/// # Safety
/// `r` is reset, owned by the calling thread, and never used again by the caller.
#[inline(always)]
pub(crate) unsafe fn put(r: *mut Control) {
    let t = slot::get();
    // SAFETY: the thread's own state, which has room for `most`; the caller's contract.
    unsafe {
        let n = (*t).pooled;
        if n == (*t).most {
            return overflow(r);
        }
        *(&raw mut (*t).regions).cast::<*mut Control>().add(n) = r;
        (*t).pooled = n + 1;
    }
}

/// The pool is empty: takes a batch of blocks and hands one out.
#[cold]
#[inline(never)]
fn refill() -> *mut Control {
    own_state();
    let t = slot::get();
    let me = thread::pointer();
    // SAFETY: the thread's own state, unless it is the shared empty one, which has no room; new slots
    // are the caller's alone.
    unsafe {
        let most = (*t).batch.min((*t).most).max(1);
        let Some(blocks) = slots::take_blocks(most) else { return ptr::null_mut() };
        let mut last: *mut Control = ptr::null_mut();
        let mut at = (&raw mut (*t).regions).cast::<*mut Control>();
        for r in blocks {
            (*r).counts.set_owner(me);
            if !last.is_null() {
                *at = last;
                at = at.add(1);
            }
            last = r;
        }
        if (*t).most > 0 {
            (*t).pooled = at.offset_from((&raw const (*t).regions).cast()) as usize;
            (*t).batch = (2 * most).min(BATCH);
        }
        last
    }
}

/// The pool is full: gives back the regions that have waited longest in it.
#[cold]
#[inline(never)]
unsafe fn overflow(r: *mut Control) {
    let t = slot::get();
    // SAFETY: the thread's own state, unless it is the shared empty one, which has no room; pooled
    // regions are its alone.
    unsafe {
        if (*t).most == 0 {
            return slots::give_blocks(&[r]);
        }
        let regions = &mut (*t).regions;
        slots::give_blocks(&regions[..BATCH]);
        regions.copy_within(BATCH.., 0);
        (*t).pooled -= BATCH;
        put(r);
    }
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
    unsafe { t.write(Thread::new(POOLED, CACHED, symbol::NOTHING_RECENT)) };
    slot::set(t);
    HOOK.arm(t as usize);
}

/// The symbols that the calling thread met lately.
#[inline(always)]
pub(crate) fn recent() -> *mut Recent {
    // SAFETY: the thread's own state.
    unsafe { (*slot::get()).recent }
}

/// [`recent`] to be written to; null when memory is out.
pub(crate) fn own_recent() -> *mut Recent {
    own_state();
    let t = slot::get();
    // SAFETY: the thread's own state, unless it is the shared empty one, which stays as it is.
    unsafe {
        if (*t).most == 0 {
            return ptr::null_mut();
        }
        if ptr::eq((*t).recent, symbol::NOTHING_RECENT) {
            let new = Recent::new();
            if new.is_null() {
                return new;
            }
            (*t).recent = new;
        }
        (*t).recent
    }
}

/// Gives back what an ending thread kept. Regions that others hold are not in its pool.
unsafe extern "C" fn end_of_thread(t: *mut c_void) {
    let t: *mut Thread = t.cast();
    slot::set((&raw const EMPTY.0).cast_mut());
    // SAFETY: the state was the thread's own and nobody uses it any more.
    unsafe {
        slots::give_blocks(&(&(*t).regions)[..(*t).pooled]);
        for (i, kind) in [SlotKind::Chunk4K, SlotKind::Chunk16K].into_iter().enumerate() {
            let mut c = (*t).chunks[i];
            while !c.is_null() {
                let next = (*c).newer;
                slots::give(c.cast(), kind);
                c = next;
            }
        }
        if !ptr::eq((*t).recent, symbol::NOTHING_RECENT) {
            allod_heap::free((*t).recent.cast());
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
    // SAFETY: the thread's own state.
    unsafe { (*slot::get()).pooled }
}
