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
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Changes with the rates, and in a forked child: what was drawn before does not count any more.
static EPOCH: AtomicU32 = AtomicU32::new(1);
/// Of how many blocks one is guarded; 0 for none.
static GUARDED: AtomicU32 = AtomicU32::new(0);

/// In how many bytes one is profiled; 0 for none.
static PROFILED: AtomicU64 = AtomicU64::new(0);

/// What guarded blocks are for [`drawing::switch`],
const GUARDS: u32 = 1;
/// and what profiled ones are.
const PROFILES: u32 = 2;

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

/// Has one sample profiled in so many bytes, none with 0.
pub fn profile_every(bytes: u64) {
    PROFILED.store(bytes, Relaxed);
    EPOCH.fetch_add(1, Relaxed);
    drawing::switch(PROFILES, bytes != 0);
}

/// In how many bytes one is profiled; 0 for none.
pub fn profiled_every() -> u64 {
    PROFILED.load(Relaxed)
}

/// In a forked child: samples are others than its parent's.
pub fn forked() {
    EPOCH.fetch_add(1, Relaxed);
}

/// What a block is a sample for.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// It is to be guarded.
    pub guarded: bool,
    /// It is to be profiled.
    pub profiled: bool,
}

/// Counts a block that is about to be handed out.
///
/// # Safety
/// `h` is the calling thread's own.
#[inline]
pub unsafe fn count(h: *mut Heap, class: Class) -> Wanted {
    let next = |left: Option<&mut u32>| {
        left.is_some_and(|left| {
            *left -= 1;
            *left == 0
        })
    };
    // SAFETY: the caller's contract; one count after the other is in use.
    unsafe {
        let guarded = next(until_guarded(h, class));
        Wanted { guarded, profiled: next(until_profiled(h, class)) }
    }
}

/// True when a block in a span of its own is to be profiled: by the same chance as others.
pub fn large_is_profiled(size: usize) -> bool {
    let (every, Some(h)) = (profiled_every(), crate::heap::slot::own()) else { return false };
    // SAFETY: the heap is the calling thread's own.
    let due = unsafe { Drawn::due(Heap::drawn(h)) };
    begin(due, h);
    every != 0 && due.random.steps(every as f64, size as f64) == 1
}

/// Draws free blocks of a class that are handed out before the next sample is due: they are counted at once.
///
/// # Safety
/// `h` is the calling thread's own.
#[inline]
pub unsafe fn draw(h: *mut Heap, class: Class) {
    // SAFETY: the caller's contract; one count after the other is in use.
    unsafe {
        let most = Drawn::most(class);
        if most == 0 || Drawn::len(Heap::drawn(h), class) > 0 {
            return;
        }
        if Heap::cache(h, class).len() < most / 4 {
            add_free(h, class, most / 4 * 3);
        }
        let before = |left: Option<&mut u32>| left.map_or(usize::MAX, |left| *left as usize - 1);
        let guarded = before(until_guarded(h, class));
        let drawn = drawing::draw(h, class, before(until_profiled(h, class)).min(guarded)) as u32;
        if let Some(left) = until_guarded(h, class) {
            *left -= drawn;
        }
        if let Some(left) = until_profiled(h, class) {
            *left -= drawn;
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
        *left = match mean {
            1 => 1,
            // An exponential distribution in whole steps; its mean is half a step less.
            _ => due.random.steps(f64::from(mean) - 0.5, 1.0),
        };
    }
    Some(left)
}

/// The same for a profiled one.
#[inline]
unsafe fn until_profiled<'a>(h: *mut Heap, class: Class) -> Option<&'a mut u32> {
    let every = profiled_every();
    if every == 0 {
        return None;
    }
    // SAFETY: the caller's contract.
    let due = unsafe { Drawn::due(Heap::drawn(h)) };
    begin(due, h);
    let left = &mut due.profiled[class.index()];
    if *left == 0 {
        *left = due.random.steps(every as f64, class.size() as f64);
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
    due.profiled.fill(0);
    let place = mixed(h as u64) ^ mixed(settings::seed());
    due.random = Random::new(place ^ mixed(u64::from(io::pid()) << 32 | u64::from(epoch)));
}
