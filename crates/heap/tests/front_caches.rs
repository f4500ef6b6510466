//! What front caches hold once a burst is over stays there, because only their thread may empty them: so it must be little
//! enough that a program of 16 MiB can give back 90 %.

use allod_heap as heap;

#[test]
fn front_caches_hold_little_after_a_burst_of_medium_blocks() {
    const BURST: usize = 20_000_000;
    for size in [400_000, 500_000, 250_000, 150_000, 100_000, 50_000] {
        let burst = move || {
            for _ in 0..12 {
                let blocks: Vec<_> = (0..BURST / size).map(|_| heap::malloc(size)).collect();
                // SAFETY: ours, not used again.
                blocks.into_iter().for_each(|p| unsafe { heap::free(p) });
            }
            heap::stats::snapshot().cached_bytes
        };
        let held = std::thread::spawn(burst).join().unwrap();
        assert!(held <= 3 << 19, "{size}: {held} bytes");
    }
}
