//! What each thread keeps: up to 32 reusable regions, a few small chunks, its recently used symbols.
//!
//! The pool is a stack, so that the region left last, whose memory is warm, is handed out next. A
//! thread with more open regions than fit in it takes and returns blocks in batches. The state is reached through
//! the thread slot in two instructions. Every thread starts with a shared empty state that is never written;
//! the first region a thread needs gives it its own, which an exit hook empties.
//!
//! In checked builds, regions that were left wait in a queue of `WAITING` before their memory is
//! used again, so that wrong use of a dead region hits that region and not a new one in its place.

use crate::base::check::CHECKED;
use crate::base::locks;
use crate::memory::control::{Chunk, Control};
use crate::memory::recent::{NOTHING_RECENT, Recent};
use crate::memory::{census, slots, source};
use allod_heap::sampling;
use allod_os::thread::{self, ExitHook};
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::AtomicBool;

/// Regions a thread keeps for reuse.
pub const POOLED: usize = 32;
/// Blocks exchanged with the shared spans at once, so that the lock is taken once for many.
/// Chosen by `allod bench region --only many-small-regions`.
const BATCH: usize = 24;
/// Regions that wait in checked builds.
const WAITING: usize = 1024;
/// Chunks of 4, 16 and 64 KiB that a thread keeps. Chosen by `allod bench region --only
/// multi-region,typed-string`.
const CACHED: [u32; 3] = [16, 8, 2];

/// A thread's state.
#[repr(C)]
#[derive(Debug)]
pub struct Thread {
    /// How many regions are pooled: they come first in `regions`, the most recent one last.
    pooled: usize,
    /// How many may be pooled.
    most: usize,
    regions: [*mut Control; POOLED],
    waiting: Waiting,
    /// Blocks to take when the pool is next empty; doubles up to [`BATCH`].
    batch: usize,
    chunk_room: [u32; 3],
    chunks: [*mut Chunk; 3],
    recent: *mut Recent,
}

impl Thread {
    const fn new(most: usize, cached: [u32; 3], recent: *mut Recent) -> Thread {
        Thread {
            pooled: 0,
            most,
            regions: [ptr::null_mut(); POOLED],
            waiting: Waiting { first: ptr::null_mut(), last: ptr::null_mut(), len: 0 },
            batch: 1,
            chunk_room: cached,
            chunks: [ptr::null_mut(); 3],
            recent,
        }
    }
}

/// A queue of regions, linked by `next`, which a dead region does not use otherwise.
#[derive(Debug)]
struct Waiting {
    first: *mut Control,
    last: *mut Control,
    len: usize,
}

impl Waiting {
    unsafe fn push(&mut self, r: *mut Control) {
        // SAFETY: the caller's region is gone; those in the queue are the queue's.
        unsafe {
            (*r).next = ptr::null_mut();
            match self.first.is_null() {
                true => self.first = r,
                false => (*self.last).next = r,
            }
        }
        self.last = r;
        self.len += 1;
    }

    unsafe fn pop(&mut self) -> Option<*mut Control> {
        let r = ptr::NonNull::new(self.first)?.as_ptr();
        // SAFETY: those in the queue are the queue's.
        self.first = unsafe { (*r).next };
        self.len -= 1;
        Some(r)
    }
}

/// The state every thread starts with: nothing in it and no room.
struct Empty(Thread);
// SAFETY: never written.
unsafe impl Sync for Empty {}
static EMPTY: Empty = Empty(Thread::new(0, [0; 3], NOTHING_RECENT));

allod_os::thread_slot! {
    /// The calling thread's state.
    pub(crate) mod slot: *mut Thread = EMPTY, symbol "allod_region_thread"
}

static HOOK: ExitHook = ExitHook::new();
static HOOKED: AtomicBool = AtomicBool::new(false);

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
        let r = *(&raw const (*t).regions).cast::<*mut Control>().add(n - 1);
        // Saves the caller a test on the fast path.
        core::hint::assert_unchecked(!r.is_null());
        r
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
        if CHECKED {
            return put_last(r);
        }
        let n = (*t).pooled;
        if n == (*t).most {
            return overflow(r);
        }
        *(&raw mut (*t).regions).cast::<*mut Control>().add(n) = r;
        (*t).pooled = n + 1;
    }
}

/// [`put`] in checked builds.
#[cold]
#[inline(never)]
unsafe fn put_last(r: *mut Control) {
    own_state();
    let t = slot::get();
    // SAFETY: the thread's own state, unless it is the shared empty one, where nothing waits.
    unsafe {
        if (*t).most == 0 {
            return slots::give_blocks(&[r]);
        }
        let waiting = &mut (*t).waiting;
        waiting.push(r);
        if waiting.len > WAITING
            && let Some(oldest) = waiting.pop()
        {
            slots::give_blocks(&[oldest]);
        }
    }
}

/// The pool is empty: takes a batch of blocks and hands one out.
#[cold]
#[inline(never)]
fn refill() -> *mut Control {
    own_state();
    let t = slot::get();
    let me = thread::pointer();
    // SAFETY: the thread's own state, unless it is the shared empty one, which has no room.
    unsafe {
        if (*t).most == 0 {
            let mut one = [ptr::null_mut()];
            slots::take_blocks(&mut one, me);
            return one[0];
        }
        let batch = (*t).batch;
        let regions = &mut (*t).regions;
        let got = slots::take_blocks(&mut regions[..batch], me);
        if got == 0 {
            return ptr::null_mut();
        }
        (*t).batch = (2 * batch).min(BATCH);
        (*t).pooled = got - 1;
        regions[got - 1]
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

/// Gives the thread a state of its own. When memory is out it keeps the empty one, which pools nothing.
fn own_state() {
    if !ptr::eq(slot::get(), &EMPTY.0) {
        return;
    }
    locks::once(&HOOKED, || {
        HOOK.register(end_of_thread);
        sampling::add_part(&census::PART);
    });
    let t: *mut Thread = allod_heap::malloc(size_of::<Thread>()).cast();
    if t.is_null() {
        return;
    }
    // SAFETY: new memory of the right size.
    unsafe { t.write(Thread::new(POOLED, CACHED, NOTHING_RECENT)) };
    slot::set(t);
    HOOK.arm(t as usize);
}

/// The symbols that the calling thread used recently.
#[inline(always)]
pub(crate) fn recent() -> *mut Recent {
    // SAFETY: the thread's own state.
    unsafe { (*slot::get()).recent }
}

/// [`recent`] for writing; null when memory is out.
pub(crate) fn own_recent() -> *mut Recent {
    own_state();
    let t = slot::get();
    // SAFETY: the thread's own state, unless it is the shared empty one, which stays as it is.
    unsafe {
        if (*t).most == 0 {
            return ptr::null_mut();
        }
        if ptr::eq((*t).recent, NOTHING_RECENT) {
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
        while let Some(r) = (*t).waiting.pop() {
            slots::give_blocks(&[r]);
        }
        for mut c in (*t).chunks {
            while !c.is_null() {
                let next = (*c).newer;
                source::give_back(c);
                c = next;
            }
        }
        if !ptr::eq((*t).recent, NOTHING_RECENT) {
            allod_heap::free((*t).recent.cast());
        }
        allod_heap::free(t.cast());
    }
}

/// A chunk from one of the thread's caches; null when it is empty.
pub(crate) fn cached_chunk(i: usize) -> *mut Chunk {
    let t = slot::get();
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
pub(crate) unsafe fn cache_chunk(c: *mut Chunk, i: usize) -> bool {
    let t = slot::get();
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
