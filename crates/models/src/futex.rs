//! The futex: to look at the word and to fall asleep is one step with respect to a wake-up.

use loom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use loom::sync::{Condvar, Mutex};

loom::lazy_static! {
    /// Stands for the kernel's queue of sleepers.
    static ref QUEUE: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
}

/// Sleeps while `word` holds `value`. May wake for no reason.
pub fn futex_wait(word: &AtomicU32, value: u32, _: Option<u64>) {
    let queue = QUEUE.0.lock().expect("no panic");
    if word.load(SeqCst) == value {
        drop(QUEUE.1.wait(queue).expect("no panic"));
    }
}

/// Wakes sleepers: all, since they share one queue and each looks at its word again.
pub fn futex_wake(_: &AtomicU32, _: i32) {
    let _queue = QUEUE.0.lock().expect("no panic");
    QUEUE.1.notify_all();
}
