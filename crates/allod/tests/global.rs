//! A program whose global allocator is Allod: what Rust's collections and threads ask of it.

use allod::{Allod, Owner, owner_of};
use std::alloc::{GlobalAlloc, Layout, alloc, alloc_zeroed, dealloc, realloc};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::mpsc;

#[global_allocator]
static A: Allod = Allod;

#[test]
fn collections_live_in_the_heap() {
    let words: Vec<String> = (0..1000).map(|i| format!("word number {i}")).collect();
    assert!(matches!(owner_of(words[7].as_ptr()), Owner::Block { offset: 0, .. }));
    let long = vec![7u64; 1 << 20];
    assert!(matches!(owner_of(long.as_ptr().cast()), Owner::Large { .. }));
    let mut map: HashMap<&str, usize> = HashMap::new();
    let mut tree: BTreeMap<usize, VecDeque<&String>> = BTreeMap::new();
    for (i, word) in words.iter().enumerate() {
        map.insert(word, i);
        tree.entry(i % 10).or_default().push_front(word);
    }
    assert_eq!(map["word number 999"], 999);
    assert_eq!(tree[&3].len(), 100);
}

#[test]
fn over_aligned_values_lie_where_they_must() {
    #[repr(align(128))]
    struct CacheLines([u8; 40]);
    #[repr(align(65536))]
    struct Unit(u8);
    let many: Vec<Box<CacheLines>> =
        (0..500).map(|i| Box::new(CacheLines([i as u8; 40]))).collect();
    for (i, one) in many.iter().enumerate() {
        assert_eq!(&raw const **one as usize % 128, 0);
        assert_eq!(one.0[39], i as u8);
    }
    let unit = Box::new(Unit(1));
    assert_eq!(&raw const *unit as usize % 65536, 0);
    assert_eq!(unit.0, 1);
    let mut growing: Vec<CacheLines> = Vec::new();
    for i in 0..2000 {
        growing.push(CacheLines([i as u8; 40]));
        assert_eq!(growing.as_ptr() as usize % 128, 0);
    }
    assert!(growing.iter().enumerate().all(|(i, c)| c.0[0] == i as u8));
}

#[test]
fn realloc_keeps_contents_and_alignment() {
    for align in [1, 8, 16, 32, 256, 4096, 1 << 16] {
        let mut size = 24;
        // SAFETY: layouts are valid and not empty, and each block is used as its layout says.
        unsafe {
            let mut p = alloc(Layout::from_size_align(size, align).unwrap());
            p.write_bytes(5, size);
            for new in [25, 40, 400, 399, 5000, 70_000, 3 << 20, 9 << 20, 2 << 20, 90, 24] {
                p = realloc(p, Layout::from_size_align(size, align).unwrap(), new);
                assert_eq!(p as usize % align, 0, "align {align}, {size} to {new}");
                let kept = std::slice::from_raw_parts(p, size.min(new));
                assert!(kept.iter().all(|&b| b == 5), "align {align}, {size} to {new}");
                p.write_bytes(5, new);
                size = new;
            }
            dealloc(p, Layout::from_size_align(size, align).unwrap());
        }
    }
}

#[test]
fn growing_within_the_size_class_stays_in_place() {
    // SAFETY: as above.
    unsafe {
        let layout = Layout::from_size_align(100, 8).unwrap();
        let p = alloc(layout);
        let q = realloc(p, layout, allod::good_size(100));
        assert_eq!(p, q);
        dealloc(q, Layout::from_size_align(allod::good_size(100), 8).unwrap());
    }
}

#[test]
fn growing_a_large_vector_moves_no_bytes() {
    let step = 4 << 20;
    let mut v: Vec<u8> = Vec::with_capacity(step);
    let mut moved = 0;
    let mut at = v.as_ptr();
    for _ in 0..64 {
        v.reserve_exact(v.capacity() + step - v.len());
        v.resize(v.capacity(), 3);
        moved += usize::from(v.as_ptr() != at);
        at = v.as_ptr();
    }
    assert!(moved < 10, "moved {moved} times in 64");
    assert!(v.iter().all(|&b| b == 3));
}

#[test]
fn zeroed_memory_is_zero_after_use() {
    for align in [1, 64, 8192] {
        for size in [1, 100, 5000, 100_000, 5 << 20] {
            let layout = Layout::from_size_align(size, align).unwrap();
            for _ in 0..3 {
                // SAFETY: as above.
                unsafe {
                    let p = alloc_zeroed(layout);
                    assert!(std::slice::from_raw_parts(p, size).iter().all(|&b| b == 0));
                    p.write_bytes(0xff, size);
                    dealloc(p, layout);
                }
            }
        }
    }
}

#[test]
fn refused_sizes_are_null() {
    let layout = Layout::from_size_align(isize::MAX as usize - 4096, 8).unwrap();
    // SAFETY: a valid layout; null is not used.
    unsafe {
        assert!(A.alloc(layout).is_null());
        assert!(A.alloc_zeroed(layout).is_null());
    }
    let mut v: Vec<u8> = vec![1, 2, 3];
    assert!(v.try_reserve(isize::MAX as usize - 10).is_err());
    assert_eq!(v, [1, 2, 3]);
}

#[test]
fn boxes_travel_between_threads() {
    let (to, from) = mpsc::channel::<Vec<Box<[u32]>>>();
    let consumer = std::thread::spawn(move || {
        from.into_iter()
            .flatten()
            .map(|b| b.iter().map(|&x| u64::from(x)).sum::<u64>())
            .sum::<u64>()
    });
    let makers: Vec<_> = (0..4u32)
        .map(|t| {
            let to = to.clone();
            std::thread::spawn(move || {
                for round in 0..50 {
                    let batch = (0..200).map(|i| vec![t; (i + round) % 97].into_boxed_slice());
                    to.send(batch.collect()).unwrap();
                }
            })
        })
        .collect();
    drop(to);
    makers.into_iter().for_each(|t| t.join().unwrap());
    let each: u64 = (0..50).flat_map(|r| (0..200).map(move |i| (i + r) % 97)).sum();
    assert_eq!(consumer.join().unwrap(), each * (1 + 2 + 3));
}
