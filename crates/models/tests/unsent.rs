//! Unsent parcels: the thread and the helper never touch them at once, and each finds what the other left.
//! And heaps that the purger looks at: of what changes, nothing is left out of the next turns.

use allod_models::heap::heap::{Heap, STIRRED};
use allod_models::mail::inbox::Inbox;
use allod_models::mail::lease::Lease;
use allod_models::mail::parcel_with;
use allod_models::sync::heavy_barrier;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use std::ptr;

/// A thread's parcels: how many blocks are in them.
struct Thread {
    lease: Lease,
    unsent: UnsafeCell<u32>,
    sent: UnsafeCell<u32>,
}

// SAFETY: `unsent` is touched by whoever has the lease, `sent` by the helper: loom checks.
unsafe impl Sync for Thread {}
// SAFETY: as for Sync.
unsafe impl Send for Thread {}

impl Thread {
    /// Collects a block. False when the helper has the parcels.
    fn collect(&self) -> bool {
        let Some(_lease) = self.lease.begin() else { return false };
        // SAFETY: the lease is this thread's.
        self.unsent.with_mut(|unsent| unsafe { *unsent += 1 });
        true
    }

    /// The helper's turn.
    fn send(&self) {
        if !self.lease.revoke_if_idle() {
            return;
        }
        heavy_barrier();
        if self.lease.is_taken() {
            // SAFETY: the lease is the helper's.
            let taken = self.unsent.with_mut(|unsent| unsafe { std::mem::take(&mut *unsent) });
            // SAFETY: the helper's own.
            self.sent.with_mut(|sent| unsafe { *sent += taken });
        }
        self.lease.restore();
    }

    fn all(&self) -> u32 {
        // SAFETY: nobody else is left.
        self.unsent.with(|unsent| unsafe { *unsent }) + self.sent.with(|sent| unsafe { *sent })
    }
}

fn explore(f: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(f);
}

#[test]
fn the_thread_and_the_helper_never_touch_parcels_at_once_and_lose_none() {
    explore(|| {
        let it = Arc::new(Thread {
            lease: Lease::new(),
            unsent: UnsafeCell::new(0),
            sent: UnsafeCell::new(0),
        });
        let helper = thread::spawn({
            let it = it.clone();
            move || {
                it.send();
                it.send();
            }
        });
        let collected = u32::from(it.collect()) + u32::from(it.collect());
        helper.join().unwrap();
        assert_eq!(it.all(), collected);
    });
}

#[test]
fn an_idle_threads_parcels_are_sent_in_the_second_turn() {
    explore(|| {
        let it =
            Thread { lease: Lease::new(), unsent: UnsafeCell::new(0), sent: UnsafeCell::new(0) };
        assert!(it.collect());
        it.send();
        // SAFETY: there is one thread.
        assert_eq!(it.sent.with(|sent| unsafe { *sent }), 0, "it may be busy");
        it.send();
        // SAFETY: as above.
        assert_eq!(it.sent.with(|sent| unsafe { *sent }), 1);
        assert!(it.collect(), "the thread has its parcels again");
    });
}

/// Takes what lies in the inbox of a heap; true if something did.
fn settle(h: *mut Heap) -> bool {
    // SAFETY: heaps stay until the run is over.
    !unsafe { Inbox::take_all((*h).inbox()) }.is_null()
}

#[test]
fn a_heap_that_is_sent_mail_is_looked_at_in_this_turn_or_the_next() {
    explore(|| {
        let h = Heap::create();
        let address = h as usize;
        let sender = thread::spawn(move || {
            let h = address as *mut Heap;
            // SAFETY: heaps stay until the run is over; the parcel is new.
            unsafe {
                (*h).inbox().push(parcel_with(&[ptr::null_mut()]));
                STIRRED.add_unlocked(&*h);
            }
        });
        // SAFETY: as above.
        unsafe { STIRRED.add_unlocked(&*h) };
        let mut found = STIRRED.take_all().filter(|&h| settle(h)).count();
        sender.join().unwrap();
        found += STIRRED.take_all().filter(|&h| settle(h)).count();
        assert_eq!(found, 1);
        assert_eq!(STIRRED.take_all().count(), 0);
    });
}

#[test]
fn two_heaps_that_are_stirred_at_once_are_both_in_the_list() {
    explore(|| {
        let other = Heap::create() as usize;
        let h = Heap::create();
        let stirrer = thread::spawn(move || {
            // SAFETY: heaps stay until the run is over.
            unsafe { STIRRED.add_unlocked(&*(other as *mut Heap)) }
        });
        // SAFETY: as above.
        unsafe { STIRRED.add_unlocked(&*h) };
        let early = STIRRED.take_all().count();
        stirrer.join().unwrap();
        assert_eq!(early + STIRRED.take_all().count(), 2);
    });
}
