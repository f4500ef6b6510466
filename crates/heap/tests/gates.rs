//! The compile gates: `stats` counts exactly, `knobs` take front caches away, and without them there
//! is nothing of either. Run with each: `cargo test -p allod-heap --features stats,knobs --test gates`.

use allod_heap as heap;
use std::process::Command;

/// Runs one test of this file in a process of its own, so that nothing else allocates there and the
/// environment is read anew.
fn alone(test: &str, setting: Option<(&str, &str)>) {
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", test, "--ignored", "--test-threads", "1"]);
    let out = again.envs(setting).output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && said.contains("1 passed"), "{said}");
}

fn class(size: usize) -> heap::stats::ClassStats {
    *heap::stats::snapshot().classes.iter().find(|c| c.size == size).unwrap()
}

#[test]
#[cfg(feature = "stats")]
fn counts_are_those_of_a_known_sequence() {
    alone("known_sequence", None);
}

#[test]
#[ignore = "run by counts_are_those_of_a_known_sequence"]
#[cfg(feature = "stats")]
fn known_sequence() {
    let before = class(112);
    let blocks: Vec<_> = (0..1000).map(|_| heap::malloc(100)).collect();
    for &p in &blocks[..400] {
        // SAFETY: ours, not used again.
        unsafe { heap::free(p) };
    }
    for _ in 0..50 {
        // SAFETY: ours, not used again.
        unsafe { heap::free(heap::malloc(104)) };
    }
    let after = class(112);
    assert_eq!(after.allocations - before.allocations, 1050);
    // In the hardened build a freed block is counted when it leaves the quarantine.
    let freed = (after.frees - before.frees, after.in_use - before.in_use);
    assert!(freed == (450, 600) || cfg!(feature = "hardened") && freed.0 <= 450, "{freed:?}");
    assert_eq!(class(96).allocations, 0);
}

#[test]
#[cfg(feature = "stats")]
fn counts_of_threads_are_summed() {
    alone("two_threads", None);
}

#[test]
#[ignore = "run by counts_of_threads_are_summed"]
#[cfg(feature = "stats")]
fn two_threads() {
    let work = || {
        for _ in 0..777 {
            // SAFETY: ours, not used again.
            unsafe { heap::free(heap::malloc(600)) };
        }
    };
    let other = std::thread::spawn(work);
    work();
    other.join().unwrap();
    assert_eq!(class(640).allocations, 2 * 777);
    assert!(class(640).frees == 2 * 777 || cfg!(feature = "hardened"));
}

#[test]
#[cfg(not(feature = "stats"))]
fn without_the_feature_nothing_is_counted() {
    // SAFETY: ours, not used again.
    unsafe { heap::free(heap::malloc(640)) };
    assert_eq!((class(640).allocations, class(640).frees), (0, 0));
}

/// More refills than a thousand pairs cost where there is a front cache. In the hardened build freed blocks wait in
/// quarantine, so the caches run empty all the time; but each refill brings several blocks.
const MANY: u64 = if cfg!(feature = "hardened") { 500 } else { 10 };

/// Blocks of B4 (257 to 512 bytes) and of others: how many refills and flushes a thousand pairs cost.
fn slow_path_of(size: usize) -> u64 {
    let slow = || heap::stats::snapshot().slow;
    let before = slow();
    for i in 0..1000u32 {
        let p = heap::malloc(size);
        assert!(!p.is_null());
        // SAFETY: a live block of this size, freed once.
        unsafe {
            p.write_bytes(i as u8, size);
            assert_eq!(*p.add(size - 1), i as u8);
            heap::free(p);
        }
    }
    slow().refills - before.refills
}

#[test]
#[cfg(feature = "knobs")]
fn a_band_without_front_cache_goes_the_slow_path_and_works() {
    alone("band_off", Some(("ALLOD_BAND_B4", "0")));
    alone("band_on", None);
}

#[test]
#[ignore = "run by a_band_without_front_cache_goes_the_slow_path_and_works"]
#[cfg(feature = "knobs")]
fn band_off() {
    assert!(slow_path_of(300) >= 1000, "every allocation of the band is a slow one");
    assert!(slow_path_of(500) >= 1000);
    assert!(slow_path_of(240) < MANY, "the band below keeps its cache");
    assert!(slow_path_of(513) < MANY, "the band above keeps its cache");
    let blocks: Vec<_> = (0..5000).map(|i| heap::malloc(257 + i % 256)).collect();
    let mut addresses = blocks.clone();
    addresses.sort_unstable();
    addresses.dedup();
    assert_eq!(addresses.len(), blocks.len(), "no block twice");
    let p = heap::malloc(300);
    let other = p as usize;
    // SAFETY: ours, each freed once, one of them by another thread.
    unsafe {
        blocks.into_iter().for_each(|p| heap::free(p));
        std::thread::spawn(move || heap::free(other as *mut u8)).join().unwrap();
    }
}

#[test]
#[ignore = "run by a_band_without_front_cache_goes_the_slow_path_and_works"]
#[cfg(feature = "knobs")]
fn band_on() {
    let refills = slow_path_of(300);
    assert!(refills < MANY, "{refills}");
}

#[test]
#[cfg(not(feature = "knobs"))]
fn without_the_feature_a_knob_is_an_unknown_name() {
    alone("knob_ignored", Some(("ALLOD_BAND_B4", "0")));
}

#[test]
#[ignore = "run by without_the_feature_a_knob_is_an_unknown_name"]
#[cfg(not(feature = "knobs"))]
fn knob_ignored() {
    let refills = slow_path_of(300);
    assert!(refills < MANY, "{refills}");
}
