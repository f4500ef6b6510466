//! The standard library's own collections in frames, on a nightly compiler.
#![cfg(feature = "nightly")]
#![feature(allocator_api, btreemap_alloc)]

use allod_frame::{Arena, Blocks};
use std::collections::{BTreeMap, VecDeque};

#[test]
fn the_standard_librarys_collections_live_in_frames() {
    Arena::new().frame(|f| {
        let f = &*f;
        let mut numbers = Vec::new_in(f);
        numbers.push(0u32);
        let place = numbers.as_ptr();
        numbers.extend(1..1000);
        assert_eq!(numbers.as_ptr(), place, "the newest vector grows in place");
        let queue: VecDeque<u32, _> = {
            let mut queue = VecDeque::new_in(f);
            queue.extend(&numbers);
            queue
        };
        assert_eq!(queue.iter().sum::<u32>(), 499_500);
        let boxed = Box::new_in(String::from("boxed"), f);
        assert_eq!(*boxed, "boxed");
    });
}

#[test]
fn a_tree_uses_freed_blocks_again() {
    Arena::new().frame(|f| {
        let blocks = Blocks::new(&*f);
        let mut tree = BTreeMap::new_in(&blocks);
        (0..1000).for_each(|i| assert!(tree.insert(i, i).is_none()));
        let used = f.used();
        for round in 1..10 {
            (0..1000).for_each(|i| assert!(tree.remove(&(i + (round - 1) * 1000)).is_some()));
            (0..1000).for_each(|i| assert!(tree.insert(i + round * 1000, i).is_none()));
        }
        assert_eq!(tree.len(), 1000);
        assert!(f.used() < used * 2, "{} after {used}", f.used());
    });
}
