//! The locks of all regions of the process, and `fork` while other threads use them: the child finds every
//! lock free and every table consistent.
//!
//! All locks are taken before a fork and released after it, in parent and child. Except for `ONCE`, which
//! is taken before the others, none of them is ever taken while another of them is held, so their order does
//! not matter; the heap's own are taken after these, as everywhere else.
//!
//! This is arranged when the program or the library is loaded. A thread that forks while another one uses
//! its first region would otherwise give its child a lock that the other thread holds, before anything is
//! there to prevent it.

use allod_heap::process::{AroundFork, at_fork};
use allod_os::lock::Lock;
use core::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};

/// For initialisation.
static ONCE: Lock = Lock::new();
/// For the table of types.
pub(crate) static TYPES: Lock = Lock::new();
/// For the table of symbols.
pub(crate) static SYMBOLS: Lock = Lock::new();
/// For the spans that have free slots.
pub(crate) static SLOTS: Lock = Lock::new();
/// For the roots that `validate` knows.
pub(crate) static ROOTS: Lock = Lock::new();

static PREPARED: AtomicBool = AtomicBool::new(false);

fn locks() -> [&'static Lock; 5] {
    [&ONCE, &TYPES, &SYMBOLS, &SLOTS, &ROOTS]
}

static AROUND: AroundFork =
    AroundFork { before, in_parent: after, in_child: after, is_interrupted };

fn before() {
    // A signal handler that interrupted the heap or a layer waits for nobody: they may wait for its thread.
    let patient = !allod_heap::process::is_interrupted();
    locks().iter().for_each(|lock| lock.hold_for_fork(patient));
}

fn after() {
    locks().iter().rev().for_each(|lock| lock.release_after_fork());
}

fn is_interrupted() -> bool {
    locks().iter().any(|lock| lock.interrupted_here())
}

extern "C" fn on_load() {
    prepare();
}

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

/// Registers the fork handlers, once. Called before the first use of any of the locks, because
/// constructors that run before `on_load` may use regions.
#[inline]
pub(crate) fn prepare() {
    once(&PREPARED, || at_fork(&AROUND));
}

/// Runs `work` unless it has been run before.
#[inline]
pub(crate) fn once(done: &AtomicBool, work: fn()) {
    if !done.load(Acquire) {
        first_time(done, work);
    }
}

#[cold]
fn first_time(done: &AtomicBool, work: fn()) {
    ONCE.with(|| {
        if !done.load(Acquire) {
            work();
            done.store(true, Release);
        }
    });
}
