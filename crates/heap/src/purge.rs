//! Giving memory back: after a decay, in the background, or on request.
//!
//! Two things are given back: free runs in the span source, and whole pages of free blocks inside
//! slabs that are otherwise in use. A helper thread does it, started when a program first frees
//! enough to be worth it, asleep without a timer while there is nothing to do. With
//! `ALLOD_BACKGROUND=0` the threads' own slow paths do the same work now and then.

use crate::heap::{Heap, Standing, each_heap};
use crate::helper::Helper;
use crate::map::MAP;
use crate::settings;
use crate::slab;
use crate::slow;
use crate::source::SOURCE;
use allod_os::futex::futex_wait;
use allod_os::thread::spawn_helper;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

/// Slabs looked at before a heap's lock is given up for a moment.
const SLABS_PER_HOLD: usize = 256;

static HELPER: Helper = Helper::new();
static LAST_TURN: AtomicU32 = AtomicU32::new(0);

/// Told on slow paths that `bytes` have been returned to slabs or source. Starts or wakes the
/// helper. Called without locks held.
#[inline]
pub fn note_flush(bytes: usize) {
    if !HELPER.is_awake() {
        note_flush_while_idle(bytes);
    }
}

#[cold]
fn note_flush_while_idle(bytes: usize) {
    if !HELPER.note(bytes) {
        return;
    }
    if !settings::BACKGROUND.on() {
        return take_turn_now_and_then();
    }
    if HELPER.claim() && !spawn_helper(helper) {
        HELPER.gone();
        take_turn_now_and_then();
    }
}

/// The helper's work done by a program thread, at most once in half a decay.
fn take_turn_now_and_then() {
    let (now, delay) = (settings::now(), settings::PURGE_DELAY_MS.get());
    if now.wrapping_sub(LAST_TURN.load(Ordering::Relaxed)) >= delay / 2 {
        LAST_TURN.store(now, Ordering::Relaxed);
        turn(delay);
    }
}

extern "C" fn helper(_: *mut c_void) -> *mut c_void {
    loop {
        let delay = settings::PURGE_DELAY_MS.get();
        let pause = AtomicU32::new(0);
        futex_wait(&pause, 0, Some(u64::from(delay / 5).clamp(10, 1000)));
        if !turn(delay) {
            HELPER.sleep(|| turn(delay));
        }
    }
    #[allow(unreachable_code)]
    ptr::null_mut()
}

/// In a forked child: the helper does not exist any more.
pub(crate) fn forked() {
    HELPER.gone();
}

/// One round: purges what is older than `delay` milliseconds. True while something younger waits.
fn turn(delay: u32) -> bool {
    let now = settings::now();
    let mut waiting = false;
    each_heap(|h| waiting |= purge_heap(h, now, delay, false).1);
    while SOURCE.purge_oldest(now, delay).is_some() {}
    waiting || SOURCE.dirty_units.load(Ordering::Relaxed) > 0
}

/// Looks through the slabs of a heap, at most `left` purged in one hold of its lock.
struct Round {
    now: u32,
    delay: u32,
    left: usize,
    bytes: usize,
    waiting: bool,
}

impl Round {
    /// Purges the free pages of a slab that has been left alone for the delay.
    ///
    /// # Safety
    /// The slab's heap is locked.
    unsafe fn look_at(&mut self, unit: u32) {
        if unit == 0 {
            return;
        }
        // SAFETY: slabs of a locked heap have stable records.
        unsafe {
            let span = MAP.span(unit as usize);
            if (*span).purged || (*span).free == 0 {
                return;
            }
            if (*span).touched && self.delay > 0 {
                (*span).touched = false;
                (*span).stamp = self.now;
            }
            let age = self.now.wrapping_sub((*span).stamp) as i32;
            if self.delay > 0 && age < self.delay as i32 {
                self.waiting = true;
                return;
            }
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            self.bytes += slab::purge_pages(span);
        }
    }

    /// Empties the caches of a heap whose thread ended a while ago.
    ///
    /// # Safety
    /// `h` is an orphan and locked.
    unsafe fn clear_out(&mut self, h: *mut Heap) {
        // SAFETY: the caller's contract: nobody else uses an orphan's bins.
        unsafe {
            if self.delay > 0 && (self.now.wrapping_sub((*h).left_at) as i32) < self.delay as i32 {
                self.waiting = true;
                return;
            }
            (*h).left_at = 0;
            crate::thread::empty_caches(h);
            slab::release_empty(h);
        }
    }
}

/// Settles the mail of a heap and purges free pages in its slabs. Returns the bytes given back, and
/// whether slabs too young for it remain.
fn purge_heap(h: *mut Heap, now: u32, delay: u32, must: bool) -> (usize, bool) {
    let mut round = Round { now, delay, left: 0, bytes: 0, waiting: false };
    loop {
        // SAFETY: heaps are never freed; everything happens with the lock held.
        unsafe {
            if must {
                (*h).lock.lock();
            } else if !(*h).lock.try_lock() {
                round.waiting = true;
                break;
            }
            if !(*h).inbox.is_empty() || !(*h).pending.is_null() {
                slow::settle_mail(h);
            }
            round.left = SLABS_PER_HOLD;
            round.waiting = false;
            if (*h).standing() == Standing::Orphan && (*h).left_at != 0 {
                round.clear_out(h);
            }
            for state in &(*h).classes {
                round.look_at(state.current);
                let mut unit = state.partial;
                while unit != 0 {
                    let next = (*MAP.span(unit as usize)).next;
                    round.look_at(unit);
                    unit = next;
                }
            }
            (*h).lock.unlock();
        }
        if round.left > 0 {
            break;
        }
    }
    (round.bytes, round.waiting)
}

/// Gives back all memory that the calling thread holds free: its front caches, its empty slabs, the
/// free pages of the others, and the free runs of the process. Returns the bytes given back.
///
/// Thread-safe. Costs a system call for each stretch of free pages.
pub fn purge_thread() -> usize {
    slow::empty_own_caches();
    let now = settings::now();
    let mut bytes = crate::thread::own().map_or(0, |h| purge_heap(h, now, 0, true).0);
    while let Some(n) = SOURCE.purge_oldest(now, 0) {
        bytes += n;
    }
    bytes
}

/// Gives back all free memory of the whole process: of every thread, running or not, except what
/// lies in other threads' front caches at this moment. Returns the bytes given back.
///
/// May be called from any thread at any time. Costs a system call for each stretch of free pages,
/// and holds each heap's lock meanwhile, so other threads' slow paths may wait.
///
/// ```
/// let p = allod_heap::malloc(10 << 20);
/// // SAFETY: the block is ours; its pages become resident, and free again.
/// unsafe {
///     p.write_bytes(1, 10 << 20);
///     allod_heap::free(p);
/// }
/// assert!(allod_heap::purge_all() >= 10 << 20);
/// ```
pub fn purge_all() -> usize {
    slow::empty_own_caches();
    let now = settings::now();
    let mut bytes = 0;
    each_heap(|h| bytes += purge_heap(h, now, 0, true).0);
    while let Some(n) = SOURCE.purge_oldest(now, 0) {
        bytes += n;
    }
    bytes
}
