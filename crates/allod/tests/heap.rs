//! Heaps of one's own under the collections that accept an allocator.

use allocator_api2::alloc::Allocator;
use allocator_api2::boxed::Box;
use allocator_api2::vec::Vec;
use allod::{Heap, Owner, owner_of};
use std::alloc::Layout;

#[test]
fn collections_live_in_the_heap_they_were_given() {
    let (a, b) = (Heap::new(), Heap::new());
    let mut map = hashbrown::HashMap::new_in(&a);
    let mut list = Vec::new_in(&b);
    for i in 0..10_000u64 {
        map.insert(i, Box::new_in(i, &b));
        list.push(i);
    }
    assert_eq!(map.values().map(|v| **v).sum::<u64>(), list.iter().sum());
    let heap_of = |p: *const u8| match owner_of(p) {
        Owner::Block { heap, .. } => heap,
        other => panic!("{other}"),
    };
    assert_eq!(heap_of((&raw const *map[&1]).cast()), heap_of((&raw const *map[&2]).cast()));
    assert_ne!(
        heap_of((&raw const *map[&1]).cast()),
        heap_of((&raw const *Box::new_in(1, &a)).cast())
    );
}

#[test]
fn a_dropped_heap_takes_what_was_forgotten() {
    let heap = Heap::new();
    let mut addresses = std::vec::Vec::new();
    for size in [10, 1000, 100_000, 4 << 20] {
        let block = heap.allocate(Layout::from_size_align(size, 8).unwrap()).unwrap();
        addresses.push(block.cast::<u8>().as_ptr());
    }
    drop(heap);
    assert!(addresses.iter().all(|&p| owner_of(p) == Owner::Free));
}

#[test]
fn a_collection_may_own_its_heap() {
    let mut v = Vec::new_in(Heap::new());
    v.extend(0..100_000u32);
    let t = std::thread::spawn(move || v.iter().map(|&x| u64::from(x)).sum::<u64>());
    assert_eq!(t.join().unwrap(), 99_999 * 50_000);
}

#[test]
fn threads_share_a_heap() {
    let heap = Heap::new();
    std::thread::scope(|s| {
        for t in 0..4u8 {
            let heap = &heap;
            s.spawn(move || {
                let mut kept = std::vec::Vec::new();
                for i in 0..2000usize {
                    let mut v = Vec::new_in(heap);
                    v.resize(i % 700, t);
                    kept.push(v);
                    if i % 3 == 0 {
                        let old = kept.swap_remove(i % kept.len());
                        assert!(old.iter().all(|&x| x == t));
                    }
                }
            });
        }
    });
}

#[test]
fn growing_and_shrinking_keep_contents_and_alignment() {
    let heap = Heap::new();
    for align in [1, 16, 64, 8192] {
        let layout = |size| Layout::from_size_align(size, align).unwrap();
        let mut size = 0;
        let mut p = heap.allocate(layout(0)).unwrap().cast::<u8>();
        for new in [1, 30, 30, 700, 70_000, 5 << 20] {
            // SAFETY: `p` is a live block of the heap with `size` bytes.
            unsafe {
                p = heap.grow_zeroed(p, layout(size), layout(new)).unwrap().cast();
                let bytes = std::slice::from_raw_parts_mut(p.as_ptr(), new);
                assert!(bytes[..size].iter().all(|&b| b == 9));
                assert!(bytes[size..].iter().all(|&b| b == 0));
                bytes.fill(9);
            }
            assert_eq!(p.as_ptr() as usize % align, 0);
            size = new;
        }
        for new in [3 << 20, 4000, 3, 0] {
            // SAFETY: as above.
            unsafe {
                p = heap.shrink(p, layout(size), layout(new)).unwrap().cast();
                assert!(std::slice::from_raw_parts(p.as_ptr(), new).iter().all(|&b| b == 9));
            }
            assert_eq!(p.as_ptr() as usize % align, 0);
            size = new;
        }
    }
}

#[test]
fn impossible_sizes_are_refused() {
    let heap = Heap::new();
    assert!(
        heap.allocate(Layout::from_size_align(isize::MAX as usize - 4096, 8).unwrap()).is_err()
    );
    let mut v: Vec<u8, _> = Vec::new_in(&heap);
    assert!(v.try_reserve(isize::MAX as usize - 10).is_err());
}
