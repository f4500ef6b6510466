//! One turn of giving memory back.

use crate::base::settings;
use crate::heap::heap::{Heap, STIRRED, Standing, each_heap};
use crate::heap::locked::LockedHeap;
use crate::heap::slot::own;
use crate::heap::stirred::Taken;
use crate::purge::unsent;
use crate::slab::{Found, Left, Pages, Ripe};
use crate::source::SOURCE;
use crate::thread::attach::send_all;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Runs kept near that are given to the span source per hold of the heap's lock.
const RUNS_PER_HOLD: usize = 16;

/// A heap that has made a slab within the delay keeps what is near for this many times the delay: where many
/// threads share few processors, a busy one may not reach a run for longer than the delay.
const BUSY: u32 = 8;

/// Turns taken so far, and heaps looked at in them.
pub struct Turns {
    /// Turns.
    pub taken: AtomicU64,
    /// Heaps.
    pub heaps: AtomicU64,
}

/// The cost of turns.
pub static TURNS: Turns = Turns { taken: AtomicU64::new(0), heaps: AtomicU64::new(0) };

/// Gives back what is older than `delay` milliseconds. True while something younger is waiting. Looks only at heaps
/// in which something has changed or is waiting.
pub fn turn(delay: u32) -> bool {
    visit(STIRRED.take_all(), delay)
}

/// The helper's turn, which also sends what idle threads have not.
pub fn helpers_turn(delay: u32) -> bool {
    let stirred = STIRRED.take_all();
    let unsent = unsent::send(|| stirred.heaps());
    visit(stirred, delay) || unsent
}

fn visit(stirred: Taken<Heap>, delay: u32) -> bool {
    let now = settings::now();
    let mut waiting = false;
    TURNS.taken.fetch_add(1, Relaxed);
    for h in stirred {
        TURNS.heaps.fetch_add(1, Relaxed);
        let waits = purge_heap(h, now, delay, false).1;
        waiting |= waits;
        // SAFETY: heaps are never freed.
        unsafe {
            if waits || Heap::has_unsent(h) {
                STIRRED.add_unlocked(&*h);
            }
        }
    }
    while SOURCE.purge_oldest(now, delay).is_some() {}
    waiting || SOURCE.has_dirty()
}

/// Empties the caches of a heap whose thread ended a while ago. True when that is still to be done.
fn empty_orphan(locked: &mut LockedHeap<'_>, now: u32, delay: u32) -> bool {
    let left_at = locked.inside().left_at;
    if left_at == 0 {
        return false;
    }
    if delay > 0 && (now.wrapping_sub(left_at) as i32) < delay as i32 {
        return true;
    }
    locked.inside().left_at = 0;
    // SAFETY: nobody else uses an orphan's bins.
    unsafe {
        locked.empty_caches();
        locked.inside().slabs.release_empty();
    }
    false
}

/// For how long a heap keeps near what it does not use.
fn near_delay(locked: &mut LockedHeap<'_>, now: u32, delay: u32) -> u32 {
    let inside = locked.inside();
    let made = inside.slabs.made;
    if core::mem::replace(&mut inside.made_before, made) != made {
        inside.made_at = now;
    }
    let is_busy = now.wrapping_sub(inside.made_at) < delay;
    if is_busy { delay.saturating_mul(BUSY).min(i32::MAX as u32) } else { delay }
}

/// Unpacks the mail of a heap and gives back what is due in it; waits for its lock if it `must`.
/// Returns the bytes given back, and whether something not yet due remains.
fn purge_heap(h: *mut Heap, now: u32, delay: u32, must: bool) -> (usize, bool) {
    let mut ripe = Ripe { now, delay, waiting: false };
    let mut waiting = false;
    let mut bytes = 0;
    let mut left = usize::MAX;
    let mut near = Left::Nothing;
    let mut pages = Pages::none();
    loop {
        // SAFETY: heaps are never freed.
        let found = unsafe {
            if matches!((*h).standing(), Standing::Retired | Standing::Lost) {
                break;
            }
            let locked = if must { Heap::enter(h) } else { Heap::try_enter(h) };
            let Some(mut locked) = locked else {
                waiting = true;
                break;
            };
            locked.settle_mail();
            if (*h).standing() == Standing::Orphan {
                waiting |= empty_orphan(&mut locked, now, delay);
            }
            let delay_near = near_delay(&mut locked, now, delay);
            near = locked.inside().slabs.near.give_old(now, delay_near, RUNS_PER_HOLD);
            left = left.min(locked.inside().slabs.len());
            locked.inside().slabs.borrow_ripe(&mut left, &mut ripe, &mut pages)
        };
        match found {
            Found::End if near != Left::Old => break,
            Found::More | Found::End => {}
            Found::Pages => {
                bytes += pages.give_back();
                // SAFETY: heaps are never freed. A thread interrupted in this heap gives the
                // blocks back another time.
                unsafe {
                    if let Some(mut locked) = Heap::enter(h) {
                        locked.inside().slabs.return_borrowed();
                    }
                }
            }
        }
    }
    (bytes, waiting || ripe.waiting || near == Left::Young)
}

/// Empties the calling thread's front caches and mail.
fn empty_own_caches() {
    let Some(h) = own() else { return };
    // SAFETY: the heap is this thread's own.
    unsafe {
        send_all(h);
        if let Some(mut locked) = Heap::enter(h) {
            locked.empty_caches();
            locked.settle_mail();
            locked.inside().slabs.release_empty();
        }
    }
}

/// Returns what heaps keep near to the span source, when that has run out.
pub fn reclaim() {
    let now = settings::now();
    each_heap(|h| {
        // SAFETY: heaps are never freed.
        if let Some(mut locked) = unsafe { Heap::try_enter(h) } {
            locked.settle_mail();
            while locked.inside().slabs.near.give_old(now, 0, RUNS_PER_HOLD) == Left::Old {}
        }
    });
}

/// Gives back all free memory of the calling thread: its front caches, its empty slabs, the
/// free pages of its other slabs, and the free runs of the process. Returns the bytes given back.
///
/// Thread-safe. Costs a system call for each stretch of free pages, cut into pieces of 2 MiB or more.
pub fn purge_thread() -> usize {
    empty_own_caches();
    let now = settings::now();
    let bytes = own().map_or(0, |h| purge_heap(h, now, 0, true).0);
    bytes + SOURCE.purge_all()
}

/// Gives back all free memory of the whole process: of every thread, running or not, except what
/// lies in other threads' front caches at this moment. Returns the bytes given back.
///
/// May be called from any thread at any time. Costs a system call for each stretch of free pages,
/// none of them with a lock held.
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
    empty_own_caches();
    let now = settings::now();
    let mut bytes = 0;
    each_heap(|h| bytes += purge_heap(h, now, 0, true).0);
    bytes + SOURCE.purge_all()
}
