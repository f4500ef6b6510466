//! What a thread's arena costs until it is used. A binary of its own, so that no other test allocates
//! meanwhile.
#![cfg(target_os = "linux")]

use allod_frame::thread;
use std::sync::Barrier;

const THREADS: usize = 64;

/// Bytes of the process that are in memory.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: usize = statm.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("a number");
    pages * 4096
}

#[test]
fn a_thread_whose_frames_are_empty_costs_less_than_64_kib() {
    let steps: [Barrier; 5] = std::array::from_fn(|_| Barrier::new(THREADS + 1));
    std::thread::scope(|s| {
        for _ in 0..THREADS {
            s.spawn(|| {
                steps[0].wait();
                steps[1].wait();
                thread::frame(|f| assert_eq!(f.used(), 0));
                steps[2].wait();
                steps[3].wait();
                thread::frame(|f| assert_eq!(*f.alloc(1), 1));
                steps[4].wait();
            });
        }
        steps[0].wait();
        let before = resident();
        steps[1].wait();
        steps[2].wait();
        let begun = resident().saturating_sub(before) / THREADS;
        let chunks = allod_heap::stats::snapshot().frame_bytes;
        steps[3].wait();
        steps[4].wait();
        let used = resident().saturating_sub(before) / THREADS;
        println!("{begun} bytes resident a thread, {used} with one value in its frame");
        assert_eq!(chunks, 0, "an empty frame takes no chunk");
        assert!(begun < 64 << 10, "{begun} bytes a thread");
        assert!(
            used < 80 << 10,
            "{used} bytes a thread with one chunk, of which a page is written"
        );
    });
}
