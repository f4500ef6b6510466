//! The helper's comings and goings: nobody sleeps for ever, and none runs between `stop` and `allow`.

use allod_models::purge::helper::{Helper, WAKE_AFTER};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use loom::thread;

/// A helper, and how many run now.
struct World {
    helper: Helper,
    running: AtomicUsize,
    /// Flushes that nobody has looked at yet.
    freed: AtomicUsize,
}

fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

impl World {
    fn new() -> Arc<World> {
        let helper = Helper::new();
        Arc::new(World { helper, running: AtomicUsize::new(0), freed: AtomicUsize::new(0) })
    }

    /// The helper's thread, as in `policy`; it ends by itself when it finds little held.
    fn run(&self, ends: bool) {
        loop {
            if !self.helper.must_leave() && self.freed.swap(0, SeqCst) == 0 {
                if ends && self.end() {
                    return;
                }
                self.helper.sleep(|| self.freed.swap(0, SeqCst) > 0, 1, || false);
            }
            if self.helper.must_leave() {
                self.running.fetch_sub(1, SeqCst);
                self.helper.gone();
                return;
            }
        }
    }

    fn end(&self) -> bool {
        // Before it says so: afterwards it is nobody's business any more.
        self.running.fetch_sub(1, SeqCst);
        if self.helper.end() {
            return true;
        }
        self.running.fetch_add(1, SeqCst);
        false
    }

    /// A slow path that allocates. `works` says whether the system makes threads.
    fn start(w: &Arc<World>, works: bool, ends: bool) -> Option<thread::JoinHandle<()>> {
        if !w.helper.is_absent() || !w.helper.claim() {
            return None;
        }
        if !works {
            w.helper.gone();
            return None;
        }
        assert_eq!(w.running.fetch_add(1, SeqCst), 0, "two helpers");
        let w = w.clone();
        Some(thread::spawn(move || w.run(ends)))
    }

    /// A system call for which the helper must not be there.
    fn without_helper(&self) {
        self.helper.stop();
        assert_eq!(self.running.load(SeqCst), 0, "a helper runs during the call");
        thread::yield_now();
        assert_eq!(self.running.load(SeqCst), 0, "a helper has started during the call");
        self.helper.allow();
    }
}

#[test]
fn a_helper_that_sleeps_or_works_leaves_when_asked() {
    explore(3, || {
        let w = World::new();
        let helper = World::start(&w, true, false).expect("the first");
        w.without_helper();
        helper.join().unwrap();
        assert!(w.helper.is_absent());
    });
}

#[test]
fn none_starts_between_stop_and_allow() {
    explore(3, || {
        let w = World::new();
        let starter = {
            let w = w.clone();
            thread::spawn(move || World::start(&w, true, false))
        };
        w.without_helper();
        let started = starter.join().unwrap();
        w.helper.stop();
        started.into_iter().for_each(|t| t.join().unwrap());
    });
}

#[test]
fn two_that_stop_it_at_once_both_have_their_calls_without_it() {
    explore(3, || {
        let w = World::new();
        let other = {
            let w = w.clone();
            thread::spawn(move || w.without_helper())
        };
        let starter = {
            let w = w.clone();
            thread::spawn(move || World::start(&w, true, false))
        };
        w.without_helper();
        other.join().unwrap();
        let started = starter.join().unwrap();
        w.helper.stop();
        started.into_iter().for_each(|t| t.join().unwrap());
    });
}

#[test]
fn a_helper_that_could_not_be_started_leaves_nobody_waiting_for_it() {
    explore(3, || {
        let w = World::new();
        let starter = {
            let w = w.clone();
            thread::spawn(move || drop(World::start(&w, false, false)))
        };
        w.without_helper();
        starter.join().unwrap();
    });
}

#[test]
fn a_helper_that_ends_by_itself_leaves_nobody_waiting_for_it() {
    explore(3, || {
        let w = World::new();
        let helper = World::start(&w, true, true).expect("the first");
        w.without_helper();
        helper.join().unwrap();
    });
}

#[test]
fn a_flush_that_wakes_it_and_a_stop_do_not_lose_each_other() {
    explore(3, || {
        let w = World::new();
        let helper = World::start(&w, true, false).expect("the first");
        let flush = {
            let w = w.clone();
            thread::spawn(move || {
                w.freed.fetch_add(1, SeqCst);
                w.helper.note(WAKE_AFTER);
            })
        };
        w.without_helper();
        flush.join().unwrap();
        helper.join().unwrap();
        assert!(w.helper.is_absent());
    });
}
