//! The futex: to look at the word and to fall asleep is one step with respect to a wake-up.

use loom::sync::atomic::{AtomicU32, Ordering::AcqRel, Ordering::Relaxed};
use loom::thread::{self, Thread};
use std::sync::Mutex;

/// A thread that is about to sleep, or sleeps.
struct Sleeper {
    word: usize,
    thread: Thread,
    parked: bool,
}

loom::lazy_static! {
    /// Orders sleepers and wakers, as the kernel's lock on its queue does.
    static ref ORDER: AtomicU32 = AtomicU32::new(0);
    /// Who sleeps, the first come first. Loom switches threads at its own parts only, so what is done
    /// here between two of them is one step.
    static ref SLEEPERS: Mutex<Vec<Sleeper>> = Mutex::new(Vec::new());
}

fn address(word: &AtomicU32) -> usize {
    std::ptr::from_ref(word) as usize
}

/// The word's latest value, where a load might read an older one: an exchange that fails.
pub(crate) fn look(word: &AtomicU32) -> u32 {
    word.compare_exchange(u32::MAX, u32::MAX, Relaxed, Relaxed).unwrap_or_else(|latest| latest)
}

/// Sleeps while `word` holds `value`. May wake for no reason.
pub fn futex_wait(word: &AtomicU32, value: u32, _: Option<u64>) {
    let thread = thread::current();
    let me = thread.id();
    ORDER.fetch_add(1, AcqRel);
    SLEEPERS.lock().unwrap().push(Sleeper { word: address(word), thread, parked: false });
    // Whoever changed the word and then found nobody to wake did so before the step above.
    let asleep = look(word) == value;
    let mut sleepers = SLEEPERS.lock().unwrap();
    let place = sleepers.iter().position(|sleeper| sleeper.thread.id() == me);
    match place {
        Some(i) if asleep => {
            sleepers[i].parked = true;
            drop(sleepers);
            thread::park();
        }
        Some(i) => drop(sleepers.remove(i)),
        None if asleep => {}
        None => {
            // The kernel would not have counted this thread among those it woke.
            drop(sleepers);
            futex_wake(word, 1);
        }
    }
}

/// Wakes up to `n` threads that sleep on the word.
pub fn futex_wake(word: &AtomicU32, n: i32) {
    ORDER.fetch_add(1, AcqRel);
    let mut sleepers = SLEEPERS.lock().unwrap();
    for _ in 0..n {
        let Some(i) = sleepers.iter().position(|sleeper| sleeper.word == address(word)) else {
            break;
        };
        let sleeper = sleepers.remove(i);
        if sleeper.parked {
            sleeper.thread.unpark();
        }
    }
}
