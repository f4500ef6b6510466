//! The futex: to look at the word and to fall asleep is one step with respect to a wake-up.

use loom::sync::atomic::{AtomicU32, AtomicUsize, Ordering::AcqRel, Ordering::Relaxed};
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

/// A word that threads sleep on.
pub(crate) trait Word {
    /// What it holds.
    type Value: Eq;

    /// The latest value, where a load might read an older one: an exchange that fails.
    fn look(&self) -> Self::Value;
}

impl Word for AtomicU32 {
    type Value = u32;

    fn look(&self) -> u32 {
        self.compare_exchange(u32::MAX, u32::MAX, Relaxed, Relaxed).unwrap_or_else(|latest| latest)
    }
}

impl Word for AtomicUsize {
    type Value = usize;

    fn look(&self) -> usize {
        let none = usize::MAX;
        self.compare_exchange(none, none, Relaxed, Relaxed).unwrap_or_else(|latest| latest)
    }
}

fn address<W: Word>(word: &W) -> usize {
    std::ptr::from_ref(word) as usize
}

/// Sleeps while `word` holds `value`. May wake for no reason.
pub fn futex_wait(word: &AtomicU32, value: u32, _: Option<u64>) {
    wait(word, &value);
}

/// The same for a word of which the kernel sees the lower half.
pub fn futex_wait_word(word: &AtomicUsize, value: usize, _: Option<u64>) {
    wait(word, &value);
}

fn wait<W: Word>(word: &W, value: &W::Value) {
    let thread = thread::current();
    let me = thread.id();
    ORDER.fetch_add(1, AcqRel);
    SLEEPERS.lock().unwrap().push(Sleeper { word: address(word), thread, parked: false });
    // Whoever changed the word and then found nobody to wake did so before the step above.
    let asleep = word.look() == *value;
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
            wake(word, 1);
        }
    }
}

/// Wakes up to `n` threads that sleep on the word.
pub fn futex_wake(word: &AtomicU32, n: i32) {
    wake(word, n);
}

/// The same for a word of which the kernel sees the lower half.
pub fn futex_wake_word(word: &AtomicUsize, n: i32) {
    wake(word, n);
}

fn wake<W: Word>(word: &W, n: i32) {
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
