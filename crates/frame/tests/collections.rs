//! Collections that live in frames.
#![cfg(feature = "allocator-api2")]

use allocator_api2::{boxed::Box, vec::Vec};
use allod_frame::Arena;
use hashbrown::{DefaultHashBuilder, HashMap};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn vectors_grow_and_shrink_as_on_the_heap(
        ops in prop::collection::vec((0..3usize, 0..4u8, prop::collection::vec(any::<u32>(), 0..60)), 0..60),
    ) {
        let mut arena = Arena::new();
        arena.frame(|f| {
            let mut model = [const { std::vec::Vec::new() }; 3];
            let mut vectors = [(); 3].map(|()| Vec::new_in(&*f));
            for (which, what, values) in &ops {
                let (vector, model) = (&mut vectors[*which], &mut model[*which]);
                match what {
                    0 | 1 => {
                        vector.extend_from_slice(values);
                        model.extend_from_slice(values);
                    }
                    2 => {
                        vector.truncate(values.len());
                        vector.shrink_to_fit();
                        model.truncate(values.len());
                    }
                    _ => {
                        *vector = Vec::new_in(&*f);
                        model.clear();
                    }
                }
            }
            for (vector, model) in vectors.iter().zip(&model) {
                assert_eq!(&vector[..], &model[..]);
            }
        });
    }
}

#[test]
fn a_hash_map_lives_in_a_scope() {
    let mut arena = Arena::new();
    arena.frame(|f| {
        f.scope(|s| {
            let mut map = HashMap::with_hasher_in(DefaultHashBuilder::default(), &*s);
            for i in 0..1000 {
                map.insert(i, &*s.alloc_fmt(format_args!("{i}")));
            }
            assert_eq!(map.remove(&999), Some("999"));
            assert!(map.iter().all(|(k, v)| k.to_string() == **v));
        });
        assert_eq!(f.used(), 0);
    });
}

#[test]
fn the_newest_vector_grows_in_place_and_gives_its_memory_back() {
    let mut arena = Arena::new();
    arena.frame(|f| {
        let f = &*f;
        let mut v = Vec::new_in(f);
        v.push(0u8);
        let place = v.as_ptr();
        v.extend(core::iter::repeat_n(1, 10_000));
        assert_eq!(v.as_ptr(), place);
        drop(v);
        assert_eq!(f.used(), 0);
    });
}

#[test]
fn a_box_drops_its_value() {
    let counted = std::sync::Arc::new(());
    let mut arena = Arena::new();
    arena.frame(|f| {
        let boxed = Box::new_in(counted.clone(), &*f);
        assert_eq!(std::sync::Arc::strong_count(&boxed), 2);
    });
    assert_eq!(std::sync::Arc::strong_count(&counted), 1);
}

/// Blocks that change their layout in every way the trait allows, with neighbours on all sides.
#[test]
fn a_block_that_is_reshaped_to_a_larger_alignment_keeps_off_its_neighbour() {
    use allocator_api2::alloc::Allocator;
    use core::alloc::Layout;
    let mut arena = Arena::new();
    arena.frame(|f| {
        let (f, shape) = (&*f, |size, align| Layout::from_size_align(size, align).unwrap());
        f.allocate(shape(64, 64)).unwrap();
        for (old, new) in [((8, 1), (8, 64)), ((8, 1), (1, 64)), ((40, 8), (40, 64))] {
            let (old, new) = (shape(old.0, old.1), shape(new.0, new.1));
            f.allocate(shape(1, 64)).unwrap();
            let block = f.allocate(old).unwrap().cast::<u8>();
            let neighbour = f.allocate(shape(64 - old.size(), 1)).unwrap().cast::<u8>();
            // SAFETY: live blocks of these layouts; the old one is not used any more.
            unsafe {
                neighbour.write_bytes(7, 64 - old.size());
                let reshaped = if new.size() < old.size() {
                    f.shrink(block, old, new)
                } else {
                    f.grow(block, old, new)
                };
                let reshaped = reshaped.unwrap().cast::<u8>();
                assert_eq!(reshaped.addr().get() % new.align(), 0);
                // Freed, and taken again: what was the neighbour's must not be given out.
                f.deallocate(reshaped, new);
                f.allocate(shape(128, 1)).unwrap().cast::<u8>().write_bytes(9, 128);
                for at in 0..64 - old.size() {
                    assert_eq!(neighbour.add(at).read(), 7, "{old:?} to {new:?}, byte {at}");
                }
            }
        }
    });
}
