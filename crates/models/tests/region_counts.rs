//! Regions' counts: the last who lets go reclaims, once, and after everything that others did.

use allod_models::counts::{Counts, Left};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use loom::thread;

const OWNER: usize = 1;
const OTHER: usize = 2;
const THIRD: usize = 3;

/// A region whose memory is a cell: reclaiming writes it, use reads it, loom proves the order.
struct Model {
    counts: Counts,
    memory: UnsafeCell<u32>,
    reclaimed: AtomicUsize,
}

// SAFETY: the memory is read while the region is held and written by whoever was told to reclaim it,
// which is what loom checks.
unsafe impl Sync for Model {}
// SAFETY: as for Sync.
unsafe impl Send for Model {}

impl Model {
    fn open() -> Arc<Model> {
        let m = Model {
            counts: Counts::new(),
            memory: UnsafeCell::new(7),
            reclaimed: AtomicUsize::new(0),
        };
        m.counts.set_owner(OWNER);
        m.counts.open();
        Arc::new(m)
    }

    /// A shared region with one reference, which the other thread is given.
    fn open_and_given_away() -> Arc<Model> {
        let m = Model::open();
        m.counts.share();
        m.counts.retain().unwrap();
        m
    }

    fn read(&self) {
        // SAFETY: the reader holds the region, which is what loom checks.
        self.memory.with(|p| assert_eq!(unsafe { *p }, 7));
    }

    fn settle(&self, left: Left) {
        if left == Left::Reclaim {
            // SAFETY: nobody holds the region, which is what loom checks.
            self.memory.with_mut(|p| unsafe { *p = 0 });
            self.reclaimed.fetch_add(1, Relaxed);
        }
    }
}

fn on_another_thread<R: 'static>(
    m: &Arc<Model>,
    work: impl FnOnce(&Model) -> R + Send + 'static,
) -> thread::JoinHandle<R> {
    let m = m.clone();
    thread::spawn(move || work(&m))
}

#[test]
fn the_last_of_exit_and_release_reclaims_once() {
    loom::model(|| {
        let m = Model::open_and_given_away();
        let other = on_another_thread(&m, |m| {
            m.read();
            m.settle(m.counts.release().unwrap());
        });
        m.read();
        m.settle(m.counts.exit().unwrap());
        other.join().unwrap();
        assert_eq!(m.reclaimed.load(Relaxed), 1);
    });
}

#[test]
fn a_tether_of_another_thread_keeps_the_region_past_exit() {
    loom::model(|| {
        let m = Model::open_and_given_away();
        let other = on_another_thread(&m, |m| {
            m.counts.tether(OTHER).unwrap();
            m.settle(m.counts.release().unwrap());
            m.read();
            m.settle(m.counts.untether(OTHER).unwrap());
        });
        m.settle(m.counts.exit().unwrap());
        other.join().unwrap();
        assert_eq!(m.reclaimed.load(Relaxed), 1);
    });
}

#[test]
fn the_owners_tether_keeps_the_region_past_exit_and_all_releases() {
    loom::model(|| {
        let m = Model::open_and_given_away();
        let other = on_another_thread(&m, |m| m.settle(m.counts.release().unwrap()));
        m.counts.tether(OWNER).unwrap();
        m.settle(m.counts.exit().unwrap());
        m.read();
        m.settle(m.counts.untether(OWNER).unwrap());
        other.join().unwrap();
        assert_eq!(m.reclaimed.load(Relaxed), 1);
    });
}

#[test]
fn references_from_before_sharing_count_on() {
    loom::model(|| {
        let m = Model::open();
        m.counts.retain().unwrap();
        m.settle(m.counts.exit().unwrap());
        m.counts.retain().unwrap();
        m.counts.share();
        let other = on_another_thread(&m, |m| {
            m.read();
            m.settle(m.counts.release().unwrap());
        });
        m.settle(m.counts.release().unwrap());
        other.join().unwrap();
        assert_eq!(m.reclaimed.load(Relaxed), 1);
    });
}

#[test]
fn three_threads_that_retain_and_release_reclaim_once() {
    // Four switches at unlucky moments; all of them would take hours.
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(|| {
        let m = Model::open_and_given_away();
        m.counts.retain().unwrap();
        let others: Vec<_> = [OTHER, THIRD]
            .map(|me| {
                on_another_thread(&m, move |m| {
                    m.counts.tether(me).unwrap();
                    m.settle(m.counts.untether(me).unwrap());
                    m.read();
                    m.settle(m.counts.release().unwrap());
                })
            })
            .into_iter()
            .collect();
        m.settle(m.counts.exit().unwrap());
        for t in others {
            t.join().unwrap();
        }
        assert_eq!(m.reclaimed.load(Relaxed), 1);
    });
}

/// A message: the sender detaches the region, the receiver adopts it, tethers it and leaves it.
#[test]
fn a_region_that_travels_is_its_receivers_alone() {
    loom::model(|| {
        let m = Model::open();
        let sent = Arc::new(AtomicUsize::new(0));
        let seen = sent.clone();
        let receiver = on_another_thread(&m, move |m| {
            if seen.load(Acquire) == 0 {
                return false;
            }
            m.counts.set_owner(OTHER);
            m.counts.tether(OTHER).unwrap();
            m.settle(m.counts.exit().unwrap());
            m.read();
            m.settle(m.counts.untether(OTHER).unwrap());
            true
        });
        m.counts.tether(OWNER).unwrap();
        m.settle(m.counts.untether(OWNER).unwrap());
        m.counts.set_owner(0);
        sent.store(1, Release);
        let received = receiver.join().unwrap();
        assert_eq!(m.reclaimed.load(Relaxed), usize::from(received));
    });
}

/// The owner shares and leaves while another thread, which was given a reference, makes two of it.
#[test]
fn references_made_of_references_count_on_after_the_owner_has_left() {
    loom::model(|| {
        let m = Model::open_and_given_away();
        let other = on_another_thread(&m, |m| {
            m.counts.retain().unwrap();
            m.settle(m.counts.release().unwrap());
            m.read();
            m.settle(m.counts.release().unwrap());
        });
        m.counts.tether(OWNER).unwrap();
        m.settle(m.counts.exit().unwrap());
        m.read();
        m.settle(m.counts.untether(OWNER).unwrap());
        other.join().unwrap();
        assert_eq!(m.reclaimed.load(Relaxed), 1);
    });
}
