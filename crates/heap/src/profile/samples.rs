//! The profile of this process: recording samples, and what is live.

use crate::base::chance::chance;
use crate::base::trace::Trace;
use crate::heap::heap::Heap;
use crate::profile::live::{Live, Sample};
use crate::profile::room::Room;
use crate::profile::sites::{Site, Sites};
use crate::purge::fork;
use crate::purge::layers::{self, AroundFork};
use crate::sample::due;
use crate::thread::shared;
use allod_os::file::Refusal;
use allod_os::lock::{Held, Lock};
use allod_os::thread;
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

struct Profile {
    lock: Lock,
    /// True once there was a sample that may be live.
    begun: AtomicBool,
    inside: UnsafeCell<Inside>,
}

/// What the lock guards.
struct Inside {
    sites: Sites,
    live: Live,
}

// SAFETY: `inside` is touched with the lock held.
unsafe impl Sync for Profile {}

static PROFILE: Profile = Profile {
    lock: Lock::new(),
    begun: AtomicBool::new(false),
    inside: UnsafeCell::new(Inside { sites: Sites::none(), live: Live::none() }),
};

/// The heap that sampled blocks come from.
static HEAP: AtomicPtr<Heap> = AtomicPtr::new(ptr::null_mut());

static AROUND_FORK: AroundFork = AroundFork {
    before: || PROFILE.lock.hold_for_fork(!fork::is_interrupted()),
    in_parent: || {
        PROFILE.lock.release_after_fork();
        late();
    },
    in_child: || {
        PROFILE.lock.reset_in_child();
        LATE.store(ptr::null_mut(), Relaxed);
        due::forked();
    },
    is_interrupted: || PROFILE.lock.interrupted_here(),
};

impl Profile {
    /// Does something with what the lock guards; `None` in a signal handler that interrupted its thread there.
    fn with<R>(&self, f: impl FnOnce(&mut Inside) -> R) -> Option<R> {
        let result = self.with_held(self.lock.enter()?, f);
        late();
        Some(result)
    }

    /// The same in a signal handler, which waits for other threads for a tenth of a second at most: one that holds the
    /// lock for a fork may wait for this one. Where this thread itself holds it for a fork, it is lent to the handler.
    fn with_soon<R>(&self, f: impl FnOnce(&mut Inside) -> R) -> Option<R> {
        let try_enter = |_| {
            let lent = self.lock.is_lent_here();
            let held = if lent { self.lock.enter() } else { self.lock.try_enter() };
            if held.is_none() {
                thread::pause(1);
            }
            held
        };
        let held = (0..100).take_while(|_| !self.lock.interrupted_here()).find_map(try_enter)?;
        Some(self.with_held(held, f))
    }

    fn with_held<R>(&self, _held: Held<'_>, f: impl FnOnce(&mut Inside) -> R) -> R {
        // SAFETY: the lock is held.
        f(unsafe { &mut *self.inside.get() })
    }
}

/// What a signal handler could not do, because the lock was held.
pub struct Late(pub fn());

static LATE: AtomicPtr<Late> = AtomicPtr::new(ptr::null_mut());

/// Has something done when the lock has next been released, without it.
pub fn do_later(what: &'static Late) {
    LATE.store(ptr::from_ref(what).cast_mut(), Relaxed);
}

/// Does it.
#[inline]
fn late() {
    if !LATE.load(Relaxed).is_null() {
        // SAFETY: null, or a static value.
        let what = unsafe { LATE.swap(ptr::null_mut(), Acquire).as_ref() };
        what.inspect(|what| (what.0)());
    }
}

/// Begins a profile, with one sample in so many bytes on average. What an earlier one knew is forgotten. False
/// when memory is out; nothing has changed then.
pub fn start(every: u64) -> bool {
    begin(every, true)
}

/// Begins a profile, which takes the place of an earlier one if it is to be `anew`.
fn begin(every: u64, anew: bool) -> bool {
    layers::join(&AROUND_FORK);
    if !has_heap() {
        return false;
    }
    let Some(sites) = Sites::new() else { return false };
    let begun = PROFILE.with(|inside| {
        let had_begun = PROFILE.begun.swap(true, Relaxed);
        if anew || !had_begun {
            *inside = Inside { sites, live: Live::none() };
        }
    });
    if begun.is_some() {
        due::profile_every(every.max(1));
    }
    begun.is_some()
}

/// Makes the heap that sampled blocks come from, if there is none: the same one for threads that begin at the same time,
/// since blocks of another would not be seen when they are freed. False when memory is out.
fn has_heap() -> bool {
    if !HEAP.load(Acquire).is_null() {
        return true;
    }
    let Some(new) = shared::make() else { return false };
    if HEAP.compare_exchange(ptr::null_mut(), new, Release, Relaxed).is_err() {
        // SAFETY: nobody else knows the new heap.
        unsafe { shared::retire(new) };
    }
    true
}

/// Takes one sample in so many bytes from now on, none with 0. Begins a profile if there is none; else what is known
/// stays. False as for [`start`].
pub fn set_rate(every: u64) -> bool {
    if every != 0 && !PROFILE.begun.load(Relaxed) {
        return begin(every, false);
    }
    due::profile_every(every);
    true
}

/// Takes no more samples. Frees of those that were taken are still seen.
pub fn stop() {
    due::profile_every(0);
}

/// The heap for the next sampled block; null when there is none.
pub fn heap() -> *mut Heap {
    HEAP.load(Relaxed)
}

/// Records a sampled block.
#[cold]
pub fn record(block: *mut u8, size: usize) {
    let every = due::profiled_every();
    if every == 0 {
        return;
    }
    let weight = 1.0 / chance(size as f64 / every as f64);
    let trace = Trace::here();
    PROFILE.with(|Inside { sites, live }| {
        let number = sites.number_of(&trace);
        let site = sites.site(number);
        site.total.add(weight, size);
        if live.add(Sample { address: block as usize, size, weight, site: number }) {
            site.live.add(weight, size);
        }
    });
}

/// Takes note of a block that is about to be freed, which may be a sample.
#[cold]
pub fn note_free(block: *mut u8) {
    PROFILE.with(|Inside { sites, live }| {
        if let Some(sample) = live.take(block as usize) {
            sites.site(sample.site).live.add(-sample.weight, sample.size);
        }
    });
}

/// The same where there may be no profile at all.
#[inline]
pub fn note_if_sample(block: *mut u8) {
    if PROFILE.begun.load(Relaxed) {
        note_free(block);
    }
}

/// Takes note of a new large block.
#[cold]
pub fn note_large(block: *mut u8, size: usize) {
    if !block.is_null() && due::large_is_profiled(size) {
        record(block, size);
    }
}

/// Runs `f` with the profile's lock held.
#[cfg(test)]
pub fn locked(f: impl FnOnce()) {
    assert!(PROFILE.with(|_| f()).is_some());
}

/// Who copies the sites.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// A call of the program's.
    Call,
    /// A signal handler, which must not wait for long.
    Handler,
    /// A call of the program's, for a signal handler that could not: it asked for no profile, and waits for no reader.
    Late,
}

/// A copy of all sites: whoever writes it may be kept waiting, by the reader of a pipe for instance, and no sample waits
/// with it.
pub fn sites(by: By) -> Result<Room<Site>, Refusal> {
    let copy = |inside: &mut Inside| inside.sites.copy().ok_or(Refusal::NO_MEMORY);
    let copied = match by {
        By::Call | By::Late => PROFILE.with(copy),
        By::Handler => PROFILE.with_soon(copy),
    };
    copied.unwrap_or(Err(Refusal::BUSY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_that_interrupted_a_fork_has_the_sites() {
        (AROUND_FORK.before)();
        let sites = sites(By::Handler).map(|_| ());
        (AROUND_FORK.in_parent)();
        assert_eq!(sites, Ok(()));
        assert!(!PROFILE.lock.is_lent_here());
    }
}
