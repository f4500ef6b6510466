//! Pools, rings, scratch arenas and streams.

use allod_frame::{Arena, Handle, Pool, Ring, Scratch, SharedPool, stream};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Clone, Debug)]
enum Op {
    Insert(u8),
    Remove(prop::sample::Index),
    RemoveGroup(u8),
    Get(prop::sample::Index),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0..4u8).prop_map(Op::Insert),
        3 => any::<prop::sample::Index>().prop_map(Op::Remove),
        1 => (1..4u8).prop_map(Op::RemoveGroup),
        3 => any::<prop::sample::Index>().prop_map(Op::Get),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stale_handle_never_yields_another_object(ops in prop::collection::vec(op(), 0..400)) {
        let mut pool = Pool::new();
        let groups = [(); 3].map(|()| pool.group());
        // Every handle ever given, its object and group, and whether it still lives.
        let mut all: Vec<(Handle<Box<usize>>, u8, bool, *const usize)> = Vec::new();
        for op in ops {
            match op {
                Op::Insert(group) => {
                    let value = Box::new(all.len());
                    let handle = match group {
                        0 => pool.insert(value),
                        g => pool.insert_in(groups[g as usize - 1], value),
                    };
                    let place: *const usize = &**pool.get(handle).unwrap();
                    all.push((handle, group, true, place));
                }
                Op::Remove(i) if !all.is_empty() => {
                    let i = i.index(all.len());
                    let expected = all[i].2.then_some(i);
                    prop_assert_eq!(pool.remove(all[i].0).map(|b| *b), expected);
                    all[i].2 = false;
                }
                Op::RemoveGroup(group) => {
                    let lived = all.iter().filter(|a| a.1 == group && a.2).count();
                    prop_assert_eq!(pool.remove_group(groups[group as usize - 1]), lived);
                    all.iter_mut().filter(|a| a.1 == group).for_each(|a| a.2 = false);
                }
                Op::Get(i) if !all.is_empty() => {
                    let i = i.index(all.len());
                    prop_assert_eq!(pool.get_mut(all[i].0).map(|b| **b), all[i].2.then_some(i));
                }
                _ => {}
            }
        }
        let mut live: Vec<usize> = pool.iter().map(|(handle, value)| {
            assert_eq!(handle, all[**value].0);
            assert_eq!(&**value as *const usize, all[**value].3);
            **value
        }).collect();
        live.sort_unstable();
        let expected: Vec<usize> = (0..all.len()).filter(|&i| all[i].2).collect();
        prop_assert_eq!(live, expected.clone());
        prop_assert_eq!(pool.len(), expected.len());
    }
}

#[test]
fn objects_stay_where_they_are_while_the_pool_grows() {
    let mut pool = Pool::new();
    let first = pool.insert([7u64; 8]);
    let place = std::ptr::from_ref(pool.get(first).unwrap());
    let others: Vec<_> = (0..100_000u64).map(|i| pool.insert([i; 8])).collect();
    assert_eq!(std::ptr::from_ref(pool.get(first).unwrap()), place);
    assert!(others.iter().zip(0..).all(|(&h, i)| pool.get(h) == Some(&[i; 8])));
}

#[test]
fn a_dropped_pool_drops_each_object_once() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut pool = Pool::new();
    let group = pool.group();
    let handles: Vec<_> = (0..200).map(|_| pool.insert(Counted(dropped.clone()))).collect();
    for _ in 0..50 {
        pool.insert_in(group, Counted(dropped.clone()));
    }
    for &handle in handles.iter().step_by(2) {
        pool.remove(handle);
    }
    assert_eq!(dropped.load(Ordering::Relaxed), 100);
    drop(pool);
    assert_eq!(dropped.load(Ordering::Relaxed), 250);
}

#[test]
fn a_handle_of_another_shared_pool_is_refused_as_a_stale_one_is() {
    let (mut many, mut one) = (SharedPool::new(4), SharedPool::new(1));
    for _ in 0..2 {
        // From several threads, so that the handles are of several shards.
        let handles: Vec<_> = (0..8)
            .map(|i| std::thread::scope(|s| s.spawn(|| many.insert(i)).join().unwrap()))
            .collect();
        let own = one.insert(100);
        for handle in handles {
            assert_eq!(one.get(handle), None);
            assert_eq!(one.with(handle, |n| *n += 1), None);
            assert_eq!(one.remove(handle), None);
            assert!(many.get(handle).is_some());
            assert_ne!(handle, own);
        }
        assert_eq!((many.get(own), one.get(own)), (None, Some(100)));
        std::mem::swap(&mut many, &mut one);
    }
    let handle = many.insert(1);
    drop(many);
    let again = SharedPool::new(1);
    again.insert(2);
    assert_eq!(again.get(handle), None, "a pool that is gone");
}

#[test]
fn a_group_of_another_pool_that_has_more_is_empty() {
    let (mut many, mut few) = (Pool::new(), Pool::new());
    let group = [(); 5].map(|()| many.group())[4];
    many.insert_in(group, 1);
    few.insert(2);
    assert_eq!((few.remove_group(group), few.len()), (0, 1));
    assert_eq!((many.remove_group(group), many.len()), (1, 0));
}

#[test]
fn of_many_threads_that_remove_an_object_one_gets_it() {
    let pool = SharedPool::new(3);
    let handles: Vec<_> = (0..1000).map(|i| pool.insert(i)).collect();
    let got = AtomicUsize::new(0);
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for (i, &handle) in handles.iter().enumerate() {
                    if let Some(value) = pool.remove(handle) {
                        assert_eq!(value, i);
                        got.fetch_add(1, Ordering::Relaxed);
                        pool.insert(usize::MAX);
                    }
                    assert_eq!(pool.get(handle), None);
                }
            });
        }
    });
    assert_eq!((got.into_inner(), pool.len()), (1000, 1000));
    pool.for_each(|_, value| assert_eq!(*value, usize::MAX));
}

#[test]
fn a_ring_uses_k_plus_one_arenas_and_gets_lent_ones_back() {
    let mut ring = Ring::new(2);
    let mut places = std::collections::HashSet::new();
    for tick in 0..20u32 {
        let newest = ring.frame(|f| f.alloc_slice_fill(1000, tick));
        places.insert(newest.as_ptr() as usize);
        for back in 1..=tick.min(2) {
            assert_eq!(ring.ago(back as usize).unwrap()[999], tick - back);
        }
        if tick > 2 {
            let oldest = ring.take_oldest().unwrap();
            let oldest = std::thread::spawn(move || {
                assert_eq!(oldest[0], tick - 2);
                oldest
            });
            ring.give_back(oldest.join().unwrap());
        }
    }
    assert_eq!(places.len(), 3);
}

#[test]
fn finished_frames_drop_their_registered_values_when_recycled() {
    let counted = Arc::new(());
    let finished = Arena::new().finish(|f| {
        f.alloc_drop(counted.clone());
        f.alloc_str("text")
    });
    assert_eq!((&*finished, Arc::strong_count(&counted)), ("text", 2));
    let arena = finished.recycle();
    assert_eq!(Arc::strong_count(&counted), 1);
    let again = arena.finish(|f| f.alloc_drop(counted.clone()));
    drop(again);
    assert_eq!(Arc::strong_count(&counted), 1);
}

#[test]
fn scratch_arenas_are_lent_to_one_at_a_time() {
    let scratch = Scratch::new();
    let sum: u64 = std::thread::scope(|s| {
        let threads: Vec<_> = (0..4u64)
            .map(|t| {
                let scratch = &scratch;
                s.spawn(move || {
                    (0..50u64)
                        .map(|i| {
                            let mut lent = scratch.take();
                            lent.frame(|f| f.alloc_slice_fill(1000, i * t).iter().sum::<u64>())
                        })
                        .sum::<u64>()
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert_eq!(sum, 1000 * 1225 * 6);
}

#[test]
fn a_stream_shows_what_is_written_and_nothing_else() {
    let (mut loader, asset) = stream(1 << 20).unwrap();
    let reader = asset.clone();
    let reader = std::thread::spawn(move || {
        let mut seen = 0;
        while !reader.is_complete() {
            let loaded = reader.loaded();
            assert!(loaded[seen..].iter().zip(seen..).all(|(&b, i)| b == (i % 251) as u8));
            seen = loaded.len();
        }
    });
    let bytes: Vec<u8> = (0..1 << 20).map(|i| (i % 251) as u8).collect();
    for part in bytes.chunks(10_007) {
        assert_eq!(loader.append(part), part.len());
    }
    assert_eq!((loader.append(b"too much"), loader.remaining()), (0, 0));
    reader.join().unwrap();
    assert_eq!(asset.complete(), Some(&bytes[..]));
}
