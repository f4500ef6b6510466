//! Remote frees: nothing is lost, nothing comes twice, and contents are seen by whoever takes them.

use allod_models::inbox::Inbox;
use allod_models::remote::Parcel;
use loom::sync::Arc;
use loom::thread;

fn take(inbox: &Inbox, into: &mut Vec<usize>) {
    let mut parcel = inbox.take_all();
    while !parcel.is_null() {
        // SAFETY: taken parcels are ours.
        unsafe {
            let next = (*parcel).next;
            into.push(Parcel::open(parcel));
            parcel = next;
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
                    for i in 0..each {
                        // SAFETY: a parcel of our own.
                        unsafe { inbox.push(Parcel::boxed(s * each + i)) };
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
        assert_eq!(got, (0..senders * each).collect::<Vec<_>>());
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
