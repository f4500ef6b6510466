//! Remote frees: nothing is lost, nothing comes twice, and contents are seen by whoever takes them.

use allod_models::base::layout::UNIT;
use allod_models::mail::inbox::Inbox;
use allod_models::mail::parcel::Parcel;
use allod_models::mail::parcel_with;
use allod_models::slab::slabs::SIZE;
use allod_models::vm;
use loom::sync::Arc;
use loom::thread;

/// The address of a block, one of four.
fn block(i: usize) -> *mut u8 {
    (UNIT + i * SIZE) as *mut u8
}

fn take(inbox: &Inbox, into: &mut Vec<*mut u8>) {
    let mut parcel = inbox.take_all();
    while !parcel.is_null() {
        // SAFETY: taken parcels are ours.
        unsafe {
            for &p in Parcel::blocks(parcel) {
                assert_eq!(vm::read(p as usize), 7);
                into.push(p);
            }
            parcel = (*parcel).next;
        }
    }
}

fn all_arrive_once(senders: usize, each: usize, bound: Option<usize>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = bound;
    model.check(move || {
        let inbox = Arc::new(Inbox::new());
        let threads: Vec<_> = (0..senders)
            .map(|s| {
                let inbox = inbox.clone();
                thread::spawn(move || {
                    for p in (s * each..(s + 1) * each).map(block) {
                        vm::write(p as usize, 7);
                        // SAFETY: a parcel of our own.
                        unsafe { inbox.push(parcel_with(&[p])) };
                    }
                })
            })
            .collect();
        let mut got = Vec::new();
        take(&inbox, &mut got);
        take(&inbox, &mut got);
        threads.into_iter().for_each(|t| t.join().unwrap());
        take(&inbox, &mut got);
        assert!(inbox.is_empty());
        got.sort_unstable();
        assert_eq!(got, (0..senders * each).map(block).collect::<Vec<_>>());
    });
}

#[test]
fn what_one_thread_pushes_arrives_once() {
    all_arrive_once(1, 3, None);
}

#[test]
fn what_two_threads_push_arrives_once() {
    all_arrive_once(2, 2, Some(3));
}
