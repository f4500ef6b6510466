//! When the next sample is due.
//!
//! Each class of each heap has a count of its own, so that nothing is shared between threads. That is the same as one
//! count for all: whether a block is a sample depends on no other block.

use crate::base::chance::{Random, mixed};
use crate::base::class::Class;
use crate::base::settings;
use crate::heap::drawing;
use crate::heap::drawn::{Drawn, Due};
use crate::heap::heap::Heap;
use allod_os::io;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Changes with the rates, and in a forked child: what was drawn before does not count any more.
static EPOCH: AtomicU32 = AtomicU32::new(1);
/// Of how many blocks one is guarded; 0 for none.
static GUARDED: AtomicU32 = AtomicU32::new(0);

/// What guarded blocks are for [`drawing::switch`].
const GUARDS: u32 = 1;

/// Has one block of so many guarded, none with 0.
pub fn guard_one_in(blocks: u32) {
    GUARDED.store(blocks, Relaxed);
    EPOCH.fetch_add(1, Relaxed);
    drawing::switch(GUARDS, blocks != 0);
}

/// Of how many blocks one is guarded; 0 for none.
pub fn guarded_one_in() -> u32 {
    GUARDED.load(Relaxed)
}

/// In a forked child: samples are others than its parent's.
pub fn forked() {
    EPOCH.fetch_add(1, Relaxed);
}

/// Counts a block that is about to be handed out; true when it is to be guarded.
///
/// # Safety
/// `h` is the calling thread's own.
#[inline]
pub unsafe fn count(h: *mut Heap, class: Class) -> bool {
    // SAFETY: the caller's contract.
    let left = unsafe { until_guarded(h, class) };
    left.is_some_and(|left| {
        *left -= 1;
        *left == 0
    })
}

/// Draws free blocks of a class that are handed out before the next sample is due: they are counted at once.
///
/// # Safety
/// `h` is the calling thread's own.
#[inline]
pub unsafe fn draw(h: *mut Heap, class: Class) {
    // SAFETY: the caller's contract.
    unsafe {
        let most = Drawn::most(class);
        if most == 0 || Drawn::len(Heap::drawn(h), class) > 0 {
            return;
        }
        if Heap::cache(h, class).len() < most / 4 {
            add_free(h, class, most / 4 * 3);
        }
        match until_guarded(h, class) {
            Some(left) => *left -= drawing::draw(h, class, *left as usize - 1) as u32,
            None => _ = drawing::draw(h, class, most),
        }
    }
}

/// Has a thread that takes and frees a few blocks in turns use more of them: it comes here less often.
#[cold]
unsafe fn add_free(h: *mut Heap, class: Class, want: usize) {
    // SAFETY: the heap is the thread's own; a signal handler that interrupted it leaves it as it is.
    unsafe {
        if let Some(mut locked) = Heap::enter(h) {
            locked.top_up(class, want);
        }
    }
}

/// Blocks of a class until a guarded one, that one included; `None` where there is to be none.
#[inline]
unsafe fn until_guarded<'a>(h: *mut Heap, class: Class) -> Option<&'a mut u32> {
    let mean = guarded_one_in();
    if mean == 0 {
        return None;
    }
    // SAFETY: the caller's contract.
    let due = unsafe { Drawn::due(Heap::drawn(h)) };
    begin(due, h);
    let left = &mut due.guarded[class.index()];
    if *left == 0 {
        // Chance 1/N for each block; the mean of the exponential distribution that gives it is a half less.
        *left =
            due.random.steps(f64::from(mean) - 0.5, 1.0).min(if mean == 1 { 1 } else { u32::MAX });
    }
    Some(left)
}

/// Forgets what was drawn for other rates.
#[inline]
fn begin(due: &mut Due, h: *mut Heap) {
    let epoch = EPOCH.load(Relaxed);
    if due.epoch != epoch {
        begin_anew(due, h, epoch);
    }
}

#[cold]
fn begin_anew(due: &mut Due, h: *mut Heap, epoch: u32) {
    due.epoch = epoch;
    due.guarded.fill(0);
    let place = mixed(h as u64) ^ mixed(settings::seed());
    due.random = Random::new(place ^ mixed(u64::from(io::pid()) << 32 | u64::from(epoch)));
}
