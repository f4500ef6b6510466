//! Heap profiles have what regions hold by type: of a file of its own, because the profile is the process's.

use allod_heap::sampling;
use allod_profile::{Stacks, read};
use allod_region::transmigrate::copy_at_most;
use allod_region::{Frozen, Region, Value};
use allod_region_derive::Trace;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Barrier, Mutex, MutexGuard};

#[derive(Trace)]
struct Body {
    mass: f64,
    place: [f64; 3],
}

/// What lies on a boundary of its own.
#[derive(Trace)]
#[repr(align(64))]
struct Lane([f32; 16]);

/// One test at a time: all regions of the process are in its profile.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let guard = ALONE.lock().unwrap_or_else(|broken| broken.into_inner());
    assert!(sampling::profile_start(512 * 1024));
    guard
}

/// What each type has of a value, by the dump that is written now; what is not told apart has no name.
fn amounts(value: &str) -> BTreeMap<String, i64> {
    let file = format!("allod-region-profile-{}.pb.gz", std::process::id());
    let path = std::env::temp_dir().join(file);
    sampling::profile_dump(&CString::new(path.to_str().unwrap()).unwrap()).unwrap();
    let profile = read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut all = BTreeMap::new();
    for (stack, amount) in &Stacks::of(&profile, Some(value)).unwrap().stacks {
        let names: Vec<&str> = stack.iter().map(|frame| frame.function.as_str()).collect();
        if let ["memory of the layer region", types @ ..] = &names[..] {
            let name = types.join(";").replace("region_type ", "");
            assert!(all.insert(name, *amount).is_none());
        }
    }
    all
}

/// The named types' amounts.
fn of<const N: usize>(value: &str, types: [&str; N]) -> [i64; N] {
    let all = amounts(value);
    types.map(|name| all.get(name).copied().unwrap_or(0))
}

#[test]
fn objects_are_counted_by_type_in_the_inline_buffer_in_chunks_and_in_chunks_of_their_own() {
    let _alone = alone();
    let r = Region::new();
    r.pair(Value::int(1), Value::int(2));
    assert_eq!(of("inuse_space", ["pair"]), [16]);
    for i in 0..5000 {
        r.float(f64::from(i));
        r.pair(Value::int(1), Value::int(2));
    }
    for _ in 0..7 {
        r.alloc(Body { mass: 1.0, place: [0.0; 3] });
    }
    r.array(100_000, Value::int(1));
    r.string("five!");
    let types = ["pair", "float", "Body", "array", "string", "int"];
    assert_eq!(of("inuse_objects", types), [5001, 5000, 7, 1, 1, 0]);
    assert_eq!(of("inuse_space", types), [5001 * 16, 80_000, 7 * 40, 800_008, 16, 0]);
    let all = amounts("inuse_space");
    let spans = allod_heap::stats::snapshot().region_bytes as i64;
    assert_eq!(all.values().sum::<i64>(), spans, "with what is not told apart: {all:?}");
    drop(r);
    assert_eq!(of("inuse_space", types), [0; 6]);
}

#[test]
fn regions_that_were_spliced_frozen_or_are_another_threads_are_counted_too() {
    let _alone = alone();
    let parent = Region::new();
    parent.pair(Value::int(1), Value::int(2));
    // Objects stay where they are, in the block and the chunks of a region that is now a part of another.
    let list = parent.scope(|r| (0..3000).fold(Value::NIL, |all, i| r.pair(Value::int(i), all)));
    assert!(!list.is_nil());
    assert_eq!(of("inuse_objects", ["pair"]), [3001]);
    let frozen = Frozen::build(|r| r.list((0..500).map(Value::int)));
    assert_eq!(of("inuse_objects", ["pair"]), [3501]);
    let barrier = Barrier::new(2);
    std::thread::scope(|s| {
        s.spawn(|| {
            let r = Region::new();
            r.list((0..2000).map(Value::int));
            barrier.wait();
            barrier.wait();
        });
        barrier.wait();
        assert_eq!(of("inuse_objects", ["pair"]), [5501]);
        barrier.wait();
    });
    drop(frozen);
    assert_eq!(of("inuse_objects", ["pair"]), [3001]);
}

#[test]
fn a_chunk_that_the_cursor_comes_back_to_is_counted_once() {
    let _alone = alone();
    let (from, to) = (Region::new(), Region::new());
    for _ in 0..100 {
        to.float(1.0);
    }
    let list = from.list((0..7500).map(Value::int));
    let pairs = of("inuse_objects", ["pair"]);
    // SAFETY: both regions are open and this thread's, and the value is alive.
    let moved = unsafe { copy_at_most(to.control(), &mut [list.raw()], 50_000) };
    assert_eq!(moved, Ok(false), "not stopped on the way");
    assert_eq!(of("inuse_objects", ["float"]), [100]);
    assert_eq!(of("inuse_objects", ["pair"]), pairs);
}

#[test]
fn plain_memory_is_not_told_apart() {
    let _alone = alone();
    let r = Region::new();
    r.pair(Value::int(1), Value::int(2));
    // In the inline buffer, and in a chunk of its own.
    for size in [100, 100_000] {
        for (byte, text) in r.memory(size, 8).iter_mut().zip(b"plain text ".iter().cycle()) {
            byte.write(*text);
        }
    }
    let all = amounts("inuse_space");
    assert_eq!(all.keys().collect::<Vec<_>>(), ["", "pair"]);
    assert_eq!(all["pair"], 16);
}

#[test]
fn dumps_while_threads_change_their_regions_are_whole() {
    let _alone = alone();
    let ended = AtomicBool::new(false);
    std::thread::scope(|s| {
        for seed in 0..2 {
            let ended = &ended;
            s.spawn(move || {
                let kept = Region::new();
                let mut turn = seed;
                while !ended.load(Relaxed) {
                    turn += 1;
                    let r = Region::new();
                    for i in 0..turn % 700 {
                        r.alloc(Lane([1.0; 16]));
                        r.string(&"x".repeat(i % 90));
                        r.pair(Value::int(7), Value::int(9));
                    }
                    r.memory(turn % 9000, 16).fill(std::mem::MaybeUninit::new(0x5b));
                    if turn % 64 == 0 {
                        kept.bring(r.list((0..100).map(Value::int)));
                    }
                }
            });
        }
        for _ in 0..100 {
            let all = amounts("inuse_space");
            assert!(all.values().all(|&bytes| bytes > 0), "{all:?}");
        }
        ended.store(true, Relaxed);
    });
}
