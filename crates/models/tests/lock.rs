//! The lock: one holder at a time, and whoever waits gets it.

use allod_models::lock::Lock;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

struct Guarded {
    lock: Lock,
    value: UnsafeCell<u32>,
}

// SAFETY: `value` is touched with the lock held, which is what loom checks.
unsafe impl Sync for Guarded {}
// SAFETY: as for Sync.
unsafe impl Send for Guarded {}

impl Guarded {
    fn new() -> Arc<Guarded> {
        Arc::new(Guarded { lock: Lock::new(), value: UnsafeCell::new(0) })
    }

    fn add(&self) {
        // SAFETY: the lock is held.
        self.lock.with(|| self.value.with_mut(|v| unsafe { *v += 1 }));
    }

    fn value(&self) -> u32 {
        // SAFETY: the lock is held.
        self.lock.with(|| self.value.with(|v| unsafe { *v }))
    }
}

/// Loom also reports a thread that sleeps for ever.
#[test]
fn two_threads_exclude_each_other_and_none_sleeps_for_ever() {
    loom::model(|| {
        let g = Guarded::new();
        let other = {
            let g = g.clone();
            thread::spawn(move || {
                g.add();
                g.add();
            })
        };
        g.add();
        other.join().unwrap();
        assert_eq!(g.value(), 3);
    });
}

#[test]
fn three_threads_exclude_each_other_and_none_sleeps_for_ever() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let g = Guarded::new();
        let others = [(); 2].map(|()| {
            let g = g.clone();
            thread::spawn(move || g.add())
        });
        g.add();
        others.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(g.value(), 3);
    });
}

#[test]
fn a_lock_that_was_tried_for_excludes_too() {
    loom::model(|| {
        let g = Guarded::new();
        let other = {
            let g = g.clone();
            thread::spawn(move || {
                if !g.lock.try_lock() {
                    return 0;
                }
                // SAFETY: the lock is held.
                g.value.with_mut(|v| unsafe { *v += 1 });
                g.lock.unlock();
                1
            })
        };
        g.add();
        let tried = other.join().unwrap();
        assert_eq!(g.value(), 1 + tried);
    });
}
