//! Regions and threads that come, go, fork and hold on to each other's regions.

use allod_region::{Frozen, Message, Region, Value};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::thread;

/// One test measures the process's memory, so they run one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|held| held.into_inner())
}

/// What is in use: free memory goes back first, whose amount depends on the moment.
fn resident_kib() -> usize {
    allod_heap::purge_all();
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4
}

#[test]
fn a_hundred_thousand_regions_of_short_threads_leave_nothing_behind() {
    let _alone = alone();
    let mut before = 0;
    for round in 0..1000 {
        let threads: Vec<_> = (0..4)
            .map(|t| {
                thread::spawn(move || {
                    let regions: Vec<Region> = (0..25).map(|_| Region::new()).collect();
                    for r in &regions {
                        r.list((0..50 * t).map(Value::int));
                        r.string(&"x".repeat(20_000));
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        if round == 200 {
            before = resident_kib();
        }
    }
    let after = resident_kib();
    println!(
        "100000 regions of 4000 threads: {before} KiB resident after a fifth, {after} at the end"
    );
    assert!(after < before + 4096, "grew from {before} to {after} KiB");
}

#[test]
fn a_threads_regions_live_on_while_others_hold_them() {
    let _alone = alone();
    let count = AtomicUsize::new(0);
    let frozen: Vec<Frozen> = thread::scope(|s| {
        let made: Vec<_> = (0..50)
            .map(|n| s.spawn(move || Frozen::build(|r| r.list((0..n * 100).map(Value::int)))))
            .collect();
        made.into_iter().map(|t| t.join().unwrap()).collect()
    });
    // Their owners are gone; their memory must not have gone to the threads that come now.
    thread::scope(|s| {
        for (n, f) in frozen.iter().enumerate() {
            let (f, count) = (f.clone(), &count);
            s.spawn(move || {
                let noise = Region::new();
                noise.list((0..1000).map(Value::int));
                let tether = f.tether();
                drop(f);
                assert!(tether.get().iter().map(|v| v.as_int().unwrap()).eq(0..n as i64 * 100));
                count.fetch_add(1, Relaxed);
            });
        }
    });
    drop(frozen);
    assert_eq!(count.load(Relaxed), 50);
}

#[test]
fn a_message_outlives_its_sender_and_is_dropped_anywhere() {
    let _alone = alone();
    for _ in 0..100 {
        let m = thread::spawn(|| Message::build(|r| r.list((0..5000).map(Value::int)))).join();
        let m = m.unwrap();
        let (m, n) = thread::spawn(|| {
            let m = m.then(|r, v| r.pair(Value::int(v.iter().count() as i64), v));
            (m, 1)
        })
        .join()
        .unwrap();
        if n == 1 {
            let here = Region::new();
            assert_eq!(m.receive(&here).car().unwrap().as_int(), Some(5000));
        }
    }
    let unread = Message::build(|r| r.list((0..5000).map(Value::int)));
    thread::spawn(move || drop(unread)).join().unwrap();
}

/// Forks with open regions while other threads make regions, symbols and types; what `child` returns is
/// whether all is well there.
fn forked(child: impl Fn() -> bool) -> bool {
    // SAFETY: the child runs Allod's code only, which is made for this, and ends without unwinding.
    unsafe {
        let pid = libc::fork();
        assert!(pid >= 0);
        if pid == 0 {
            libc::alarm(20);
            libc::_exit(i32::from(!child()));
        }
        let mut status = 0;
        libc::waitpid(pid, &mut status, 0) == pid && status == 0
    }
}

#[test]
fn a_forked_child_goes_on_with_its_regions_whatever_other_threads_did() {
    let _alone = alone();
    let stop = AtomicBool::new(false);
    thread::scope(|s| {
        for t in 0..3u32 {
            let stop = &stop;
            s.spawn(move || {
                let mut n = 0u32;
                while !stop.load(Relaxed) {
                    let regions: Vec<Region> = (0..100).map(|_| Region::new()).collect();
                    regions.iter().for_each(|r| _ = r.list((0..200).map(Value::int)));
                    for i in 0..50 {
                        Value::symbol(&format!("symbol {t} {n} {i}"));
                    }
                    if n < 500 {
                        let record = allod_region::types::Type::fixed(c"made while forking", 1, 0);
                        allod_region::types::register(&record).unwrap();
                    }
                    n += 1;
                }
            });
        }
        let open = Region::new();
        let list = open.list((0..10_000).map(Value::int));
        let frozen = Frozen::build(|r| r.string("frozen"));
        let well = (0..100).all(|i| {
            open.boxed_int(i);
            forked(|| {
                let child = open.child();
                let copy = child.list(list.iter().collect::<Vec<_>>());
                let record = allod_region::types::Type::fixed(c"made in the child", 1, 0);
                let more: Vec<Region> = (0..200).map(|_| Region::new()).collect();
                more.iter().for_each(|r| _ = r.list((0..2000).map(Value::int)));
                copy == list
                    && frozen.clone().get().as_str() == Some("frozen")
                    && Value::symbol("in the child").same(Value::symbol("in the child"))
                    && allod_region::types::register(&record).is_ok()
            })
        });
        stop.store(true, Relaxed);
        assert!(well, "a child failed, or a lock was left locked there");
        assert_eq!(list.iter().count(), 10_000);
    });
}

#[test]
fn children_of_thousands_of_forks_find_every_lock_free() {
    let _alone = alone();
    let stop = AtomicBool::new(false);
    thread::scope(|s| {
        for t in 0..2u32 {
            let stop = &stop;
            s.spawn(move || {
                let record = allod_region::types::Type::fixed(c"of a thread", 1, 0);
                for n in 0.. {
                    if stop.load(Relaxed) {
                        break;
                    }
                    // More than the thread's pool holds and its caches keep: all go through the locks.
                    let regions: Vec<Region> = (0..60).map(|_| Region::new()).collect();
                    regions.iter().for_each(|r| _ = r.memory(600, 8));
                    Value::symbol(&format!("symbol {t} {}", n % 50_000));
                    if n % 64 == 0 && n < 64 * 4000 {
                        allod_region::types::register(&record).unwrap();
                    }
                }
            });
        }
        let well = (0..2000).all(|i| {
            forked(|| {
                let regions: Vec<Region> = (0..50).map(|_| Region::new()).collect();
                regions.iter().for_each(|r| _ = r.memory(600, 8));
                let record = allod_region::types::Type::fixed(c"of a child", 1, 0);
                Value::symbol(&format!("child {i}")).as_symbol().is_some()
                    && allod_region::types::register(&record).is_ok()
            })
        });
        stop.store(true, Relaxed);
        assert!(well, "a child failed, or a lock was left locked there");
    });
}
