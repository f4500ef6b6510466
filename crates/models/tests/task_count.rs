//! The count of a task arena's handles: the arena ends once, after every use of it.

use allod_models::count::Count;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;

/// An arena whose memory is a cell: its end writes it, use reads it, and loom proves the order.
struct Arena {
    count: Count,
    memory: UnsafeCell<u32>,
    ends: AtomicUsize,
}

// SAFETY: the plain count is touched where the arena is open, which the models hand from thread to
// thread; the memory is checked by loom.
unsafe impl Sync for Arena {}
// SAFETY: as for Sync.
unsafe impl Send for Arena {}

impl Arena {
    fn new() -> Arc<Arena> {
        Arc::new(Arena {
            count: Count::new(),
            memory: UnsafeCell::new(7),
            ends: AtomicUsize::new(0),
        })
    }

    fn use_it(&self) {
        // SAFETY: a handle keeps it.
        self.memory.with(|p| assert_eq!(unsafe { *p }, 7));
    }

    fn end_if(&self, last: bool) {
        if last {
            // SAFETY: the last one is alone.
            self.memory.with_mut(|p| unsafe { *p = 0 });
            self.ends.fetch_add(1, Relaxed);
        }
    }

    fn drop_handle(&self) {
        self.use_it();
        self.end_if(self.count.sub());
    }

    fn drop_owner(&self) {
        self.use_it();
        // SAFETY: the models do it once, with the arena open nowhere.
        self.end_if(unsafe { self.count.close() });
    }
}

#[test]
fn the_owner_and_two_handles_elsewhere_end_it_once() {
    loom::model(|| {
        let arena = Arena::new();
        // SAFETY: open on this thread.
        unsafe { arena.count.change_here(2) };
        let others = [(); 2].map(|()| {
            let arena = arena.clone();
            thread::spawn(move || arena.drop_handle())
        });
        arena.drop_owner();
        others.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(arena.ends.load(Relaxed), 1);
    });
}

#[test]
fn the_task_moves_to_another_thread_while_a_handle_is_cloned_elsewhere() {
    loom::model(|| {
        let arena = Arena::new();
        // SAFETY: open on this thread.
        unsafe { arena.count.change_here(2) };
        let elsewhere = {
            let arena = arena.clone();
            thread::spawn(move || {
                arena.count.add();
                arena.drop_handle();
                arena.drop_handle();
            })
        };
        let task = {
            let arena = arena.clone();
            thread::spawn(move || {
                // SAFETY: open on that thread now; the handle dropped here is the other one.
                unsafe { arena.count.change_here(-1) };
                arena.drop_owner();
            })
        };
        elsewhere.join().unwrap();
        task.join().unwrap();
        assert_eq!(arena.ends.load(Relaxed), 1);
    });
}

#[test]
fn a_handle_made_elsewhere_and_dropped_at_home_balances() {
    loom::model(|| {
        let arena = Arena::new();
        // SAFETY: open on this thread.
        unsafe { arena.count.change_here(1) };
        let elsewhere = {
            let arena = arena.clone();
            thread::spawn(move || arena.count.add())
        };
        elsewhere.join().unwrap();
        // SAFETY: open on this thread.
        unsafe { arena.count.change_here(-2) };
        arena.drop_owner();
        assert_eq!(arena.ends.load(Relaxed), 1);
    });
}
