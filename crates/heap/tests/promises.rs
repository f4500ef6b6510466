//! Single promises of the heap, each shown once.

use allod_heap as heap;
use heap::layout::MAX_SIZE;
use heap::{Heap, Owner, owner_of};

#[test]
fn freed_block_is_reused_by_same_thread() {
    let p = heap::malloc(48);
    // SAFETY: ours, not used again.
    unsafe { heap::free(p) };
    let q = heap::malloc(48);
    assert_eq!(p, q);
    // SAFETY: ours, not used again.
    unsafe { heap::free(q) };
}

#[test]
fn sizes_beyond_ptrdiff_max_are_refused() {
    for size in [MAX_SIZE, MAX_SIZE + 1, usize::MAX, usize::MAX - 15, 1 << 62] {
        assert!(heap::malloc(size).is_null(), "{size}");
        assert!(heap::malloc_zeroed(size).is_null(), "{size}");
        assert!(heap::aligned_alloc(64, size).is_null(), "{size}");
        assert!(heap::aligned_alloc(1 << 30, size).is_null(), "{size}");
    }
}

#[test]
fn failed_realloc_leaves_the_block_untouched() {
    for size in [10, 3000, 100_000, 5 << 20] {
        let p = heap::malloc(size);
        // SAFETY: a live block of `size` bytes.
        unsafe {
            p.write_bytes(9, size);
            assert!(heap::realloc(p, MAX_SIZE).is_null());
            assert!(std::slice::from_raw_parts(p, size).iter().all(|&b| b == 9));
            heap::free(p);
        }
    }
}

#[test]
fn alignments_up_to_a_gibibyte_are_kept() {
    for shift in 4..=30 {
        let p = heap::aligned_alloc(1 << shift, 100);
        assert!(!p.is_null());
        assert_eq!(p as usize % (1 << shift), 0);
        // SAFETY: ours, not used again.
        unsafe { heap::free(p) };
    }
}

#[test]
fn growing_large_block_keeps_its_contents() {
    let mut size = 300_000;
    let mut p = heap::malloc(size);
    // SAFETY: a live block; writes stay within its size.
    unsafe {
        p.write_bytes(1, size);
        while size < 100 << 20 {
            let new = size + size / 2;
            p = heap::realloc(p, new);
            assert!(!p.is_null());
            assert!(std::slice::from_raw_parts(p, size).iter().all(|&b| b == 1));
            p.add(size).write_bytes(1, new - size);
            size = new;
        }
        p = heap::realloc(p, 200_000);
        assert!(std::slice::from_raw_parts(p, 200_000).iter().all(|&b| b == 1));
        heap::free(p);
    }
}

#[test]
fn first_class_heap_is_destroyed_whole() {
    let heap = Heap::new().unwrap();
    let blocks: Vec<_> = (0..2000).map(|i| heap.malloc(i * 7)).collect();
    let large = heap.malloc(3 << 20);
    assert!(matches!(owner_of(blocks[100]), Owner::Block { .. }));
    // SAFETY: ours; single frees are allowed, from any thread.
    unsafe {
        heap::free(blocks[5]);
        heap::free(large);
    }
    let another = heap.malloc(5 << 20);
    // SAFETY: nothing of the heap is used afterwards.
    unsafe { heap.destroy() };
    assert_eq!(owner_of(another), Owner::Free);
    assert_eq!(owner_of(blocks[100]), Owner::Free);
}

#[test]
fn a_hundred_thousand_short_threads_leave_no_heaps_behind() {
    let before = heap::stats::snapshot();
    for _ in 0..3000 {
        let one = || {
            std::thread::spawn(|| {
                let p = heap::malloc(100) as usize;
                let q = heap::malloc(100);
                // SAFETY: ours, not used again.
                unsafe { heap::free(q) };
                p
            })
        };
        for t in [one(), one()] {
            // SAFETY: the ended thread's block, not used again.
            unsafe { heap::free(t.join().unwrap() as *mut u8) };
        }
    }
    let after = heap::stats::snapshot();
    let heaps = |s: &heap::stats::Stats| s.thread_heaps + s.orphan_heaps;
    assert!(heaps(&after) <= heaps(&before) + 20, "{} heaps", heaps(&after));
}

#[test]
fn idle_memory_is_given_back_without_a_call() {
    let blocks: Vec<_> = (0..400_000usize).map(|i| heap::malloc(16 + i * 37 % 1000)).collect();
    for &p in &blocks {
        // SAFETY: ours.
        unsafe { p.write_bytes(1, 16) };
    }
    let before = heap::stats::snapshot().purged_bytes;
    for &p in &blocks {
        // SAFETY: ours, not used again.
        unsafe { heap::free(p) };
    }
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let given = heap::stats::snapshot().purged_bytes - before;
    assert!(given > 180 << 20, "gave back {given} of some 200 MB");
}

#[test]
fn blocks_stay_apart_while_caches_grow_and_shrink() {
    let mut live: Vec<*mut u8> = Vec::new();
    // Waves of changing height: refills and flushes in turn grow the caches, long runs of frees
    // shrink them again.
    for wave in 0..200usize {
        let height = [100, 1000, 5000, 50, 20_000][wave % 5];
        live.extend((0..height).map(|i| {
            let p = heap::malloc(24 + i % 3 * 16);
            // SAFETY: a new block of at least 24 bytes.
            unsafe { p.cast::<usize>().write(p as usize) };
            p
        }));
        let keep = if wave % 7 == 0 { live.len() / 2 } else { 0 };
        for p in live.drain(keep..) {
            // SAFETY: a live block, not used again.
            unsafe {
                assert_eq!(p.cast::<usize>().read(), p as usize);
                heap::free(p);
            }
        }
    }
}

#[test]
fn many_growing_blocks_do_not_use_up_the_address_space() {
    const MIB: usize = 1 << 20;
    let mut blocks: Vec<*mut u8> = (0..3000).map(|_| heap::malloc(64 * 1024)).collect();
    for size in [MIB, 20 * MIB] {
        for p in &mut blocks {
            // SAFETY: a live block, replaced by the result.
            *p = unsafe { heap::realloc(*p, size) };
            assert!(!p.is_null());
        }
    }
    let other = heap::malloc(100 * MIB);
    assert!(!other.is_null());
    for p in blocks.into_iter().chain([other]) {
        // SAFETY: a live block, not used again.
        unsafe { heap::free(p) };
    }
}
