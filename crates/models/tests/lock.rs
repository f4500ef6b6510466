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

#[test]
fn a_thread_that_enters_again_is_told_so_instead_of_waiting_for_itself() {
    loom::model(|| {
        let g = Guarded::new();
        let other = {
            let g = g.clone();
            thread::spawn(move || {
                let held = g.lock.enter().expect("not this thread's");
                // SAFETY: the lock is held.
                g.value.with_mut(|v| unsafe { *v += 1 });
                drop(held);
            })
        };
        let held = g.lock.enter().expect("not this thread's");
        assert!(g.lock.enter().is_none());
        assert!(g.lock.try_enter().is_none());
        assert!(g.lock.interrupted_here());
        // SAFETY: the lock is held.
        g.value.with_mut(|v| unsafe { *v += 1 });
        drop(held);
        assert!(!g.lock.interrupted_here());
        other.join().unwrap();
        assert_eq!(g.value(), 2);
    });
}

/// Uses the guarded value with the lock entered.
fn enter_and_add(g: &Guarded) {
    let _held = g.lock.enter().expect("not interrupted");
    // SAFETY: the lock is held.
    g.value.with_mut(|v| unsafe { *v += 1 });
}

#[test]
fn a_lock_held_for_a_fork_is_lent_to_the_forking_thread_and_excludes_all_others() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let g = Guarded::new();
        let others = [(); 2].map(|()| {
            let g = g.clone();
            thread::spawn(move || enter_and_add(&g))
        });
        g.lock.hold_for_fork(true);
        // SAFETY: the lock is held.
        let before = g.value.with(|v| unsafe { *v });
        // A handler that runs after this one allocates, and its handler of a signal does, too.
        {
            let _lent = g.lock.enter().expect("lent");
            assert!(g.lock.enter().is_none());
            // SAFETY: the lock is lent.
            g.value.with_mut(|v| unsafe { *v += 1 });
        }
        enter_and_add(&g);
        // SAFETY: the lock is held.
        assert_eq!(g.value.with(|v| unsafe { *v }), before + 2);
        g.lock.release_after_fork();
        others.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(g.value(), 4);
    });
}

#[test]
fn a_fork_inside_the_lock_leaves_it_held() {
    loom::model(|| {
        let g = Guarded::new();
        let other = {
            let g = g.clone();
            thread::spawn(move || enter_and_add(&g))
        };
        let held = g.lock.enter().expect("not this thread's");
        g.lock.hold_for_fork(true);
        assert!(g.lock.enter().is_none(), "interrupted in the middle of a change");
        g.lock.release_after_fork();
        // SAFETY: the lock is held still.
        g.value.with_mut(|v| unsafe { *v += 1 });
        drop(held);
        other.join().unwrap();
        assert_eq!(g.value(), 2);
    });
}

#[test]
fn a_fork_that_does_not_wait_releases_only_what_it_got() {
    loom::model(|| {
        let g = Guarded::new();
        let other = {
            let g = g.clone();
            thread::spawn(move || enter_and_add(&g))
        };
        g.lock.hold_for_fork(false);
        g.lock.release_after_fork();
        enter_and_add(&g);
        other.join().unwrap();
        assert_eq!(g.value(), 2);
    });
}
