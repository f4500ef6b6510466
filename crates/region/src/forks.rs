//! `fork` while other threads use regions: the child finds every lock free and every table whole.
//!
//! All locks are taken before a fork and released after it, in parent and child. But for `PREPARING`, which
//! is taken before the others, none of them is ever taken while another of them is held, so their order does
//! not matter; the heap's own are taken after these, as everywhere else.
//!
//! This is arranged when the program or the library is loaded. A thread that forks while another one uses
//! its first region would otherwise give its child a lock that the other thread holds, before anything is
//! there to prevent it.

use crate::{pool, slots, symbol, types, validate};
use allod_heap::process::{AroundFork, at_fork};
use allod_os::lock::Lock;
use core::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};

static PREPARED: AtomicBool = AtomicBool::new(false);
static PREPARING: Lock = Lock::new();

fn locks() -> [&'static Lock; 5] {
    [&PREPARING, &types::LOCK, &symbol::LOCK, &slots::LOCK, &validate::LOCK]
}

static AROUND: AroundFork = AroundFork { before, in_parent: after, in_child: after };

fn before() {
    // A signal handler that interrupted the heap waits for nobody: they may wait for the heap.
    let patient = !allod_heap::process::is_interrupted();
    locks().iter().for_each(|lock| lock.hold_for_fork(patient));
}

fn after() {
    locks().iter().rev().for_each(|lock| lock.release_after_fork());
}

extern "C" fn on_load() {
    prepare();
}

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

/// Registers what must happen around forks and at the end of threads, once. Called before the first use
/// of any of the locks, for constructors that run before `on_load` may use regions.
#[inline]
pub(crate) fn prepare() {
    if !PREPARED.load(Acquire) {
        register();
    }
}

#[cold]
fn register() {
    PREPARING.with(|| {
        if !PREPARED.load(Acquire) {
            pool::register_exit();
            at_fork(&AROUND);
            PREPARED.store(true, Release);
        }
    });
}
