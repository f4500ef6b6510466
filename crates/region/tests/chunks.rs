//! Moves and copies of structures that lie scattered over many chunks, of every kind of object that copying treats
//! in its own way.

use allod_region::types::{self, Name, Tail, Type};
use allod_region::value::{forwarded, is_header};
use allod_region::{Control, Raw, batch, chunk, control, life, objects, transmigrate};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Two values and a tail of values; and a record that is aligned more than its neighbours are.
static TYPES: LazyLock<[u32; 2]> = LazyLock::new(|| {
    let record = Type {
        name: Name::new(c"record"),
        size: 8,
        align: 8,
        map: 0,
        tail: Tail::Values,
        tail_size: 8,
        size_of: None,
        trace: None,
    };
    let aligned = Type { align: 64, ..Type::fixed(c"aligned", 3, 0b101) };
    [types::register(&record).unwrap(), types::register(&aligned).unwrap()]
});

/// Random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

/// So many objects, each of which leads to random others; the root leads to some of them.
///
/// # Safety
/// The region is open.
unsafe fn scattered(r: *mut Control, seed: u64, count: usize) -> Raw {
    let mut random = Random(seed);
    let mut all: Vec<Raw> = Vec::with_capacity(count);
    // SAFETY: the caller's region; objects are complete before they are used, and slots are values.
    unsafe {
        for i in 0..count {
            let number = Raw::small_wrapping(i as i64);
            let any = |random: &mut Random| match all.len() {
                0 => number,
                _ if random.below(4) == 0 => number,
                n => all[random.below(n)],
            };
            let (a, b, c) = (any(&mut random), any(&mut random), any(&mut random));
            let new = match random.below(8) {
                0 => objects::float(r, i as f64),
                1 => objects::string(r, &"text".repeat(random.below(30))),
                2 => batch::array(r, random.below(40), |_| any(&mut random)),
                3 | 4 => {
                    let len = random.below(4);
                    let p = objects::object(r, TYPES[0], len).pointer().unwrap();
                    for (k, v) in [a, b, c][..len].iter().enumerate() {
                        *p.add(1 + k) = v.0;
                    }
                    Raw::object(p)
                }
                5 => {
                    let p = objects::object(r, TYPES[1], 0).pointer().unwrap();
                    (*p.add(1), *p.add(2), *p.add(3)) = (a.0, 8 * i as u64, b.0);
                    Raw::object(p)
                }
                _ => objects::pair(r, a, b),
            };
            all.push(new);
            // Cycles.
            let earlier = all[random.below(all.len())];
            if let Some(p) = earlier.as_pair() {
                *p.add(random.below(2)) = new.0;
            }
        }
        // Long enough for a chunk of its own.
        batch::array(r, 100_000, |_| all[random.below(all.len())])
    }
}

/// What the root reaches, as objects numbered in the order they are found, with their words.
fn shape(root: Raw) -> Vec<Vec<u64>> {
    let mut numbers = HashMap::new();
    let mut todo = vec![root];
    let mut found = Vec::new();
    numbers.insert(root.0, 0);
    let mut next = 0;
    while next < todo.len() {
        let v = todo[next];
        next += 1;
        // SAFETY: the structure is alive.
        unsafe {
            let (p, header) = v.object_and_header().unwrap();
            assert!(forwarded(*p).is_none(), "a forwarding address was left behind");
            assert!(v.is_pair() || is_header(*p));
            let align = types::record(header.type_id()).align as usize;
            assert_eq!(p as usize % align, 0);
            let len = types::object_bytes(p, header) / 8;
            let mut words = std::slice::from_raw_parts(p, len).to_vec();
            types::each_slot(p, header, &mut |slot| {
                if (*slot).pointer().is_some() {
                    let number = *numbers.entry((*slot).0).or_insert_with(|| {
                        todo.push(*slot);
                        todo.len() - 1
                    });
                    words[slot.cast::<u64>().offset_from(p) as usize] = 8 * number as u64;
                }
            });
            found.push(words);
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn what_lies_scattered_over_many_chunks_arrives_as_it_was(seed: u64, count in 1000..300_000usize) {
        // SAFETY: regions are open until their exits; after a move nothing of the source is used.
        unsafe {
            let source = life::create();
            let root = scattered(source, seed, count);
            let before = shape(root);
            let [copied, moved, last] = [(); 3].map(|()| life::create());
            let mut copies = [root];
            transmigrate::copy(copied, &mut copies).unwrap();
            prop_assert!(shape(root) == before, "the source has changed");
            prop_assert!(shape(copies[0]) == before, "the copy differs");
            let mut arrived = [root, root];
            transmigrate::take(moved, source, &mut arrived[..1]).unwrap();
            // What was moved before is where it was moved to.
            transmigrate::take(moved, source, &mut arrived[1..]).unwrap();
            prop_assert_eq!(arrived[0], arrived[1]);
            life::exit(source);
            prop_assert!(shape(arrived[0]) == before, "what was moved differs");
            transmigrate::evacuate(last, moved, &mut arrived[..1]).unwrap();
            transmigrate::evacuate(last, moved, &mut arrived[1..]).unwrap();
            prop_assert_eq!(arrived[0], arrived[1]);
            life::exit(moved);
            prop_assert!(shape(arrived[0]) == before, "what was evacuated differs");
            life::exit(copied);
            life::exit(last);
        }
    }
}

#[test]
fn chunks_are_given_back_one_by_one_and_the_others_stay() {
    // SAFETY: the region is open until its exit; nothing in a chunk is used once it was given back.
    unsafe {
        let r = life::create();
        // A chunk of its own while the cursor is in the control block: the only one there is.
        let first = |root: Raw| root.pointer().unwrap().cast::<u8>();
        let alone = batch::array(r, 10_000, |_| Raw::NIL);
        assert_eq!(control::accounting(r).chunks, 1);
        chunk::drop_chunk(r, first(alone));
        let empty = control::accounting(r);
        assert_eq!((empty.chunks, empty.live, control::live(r)), (0, 0, 0));

        // Now large arrays, each alone, around chunks of pairs.
        let mut large = Vec::new();
        let mut list = Raw::NIL;
        for i in 0..6 {
            large.push(batch::array(r, 100_000, |_| Raw::small_wrapping(i)));
            list = (0..1000).fold(list, |next, k| objects::pair(r, Raw::small_wrapping(k), next));
        }
        let before = control::accounting(r);
        // The newest, the oldest and one between, of those that are alone.
        for i in [5, 0, 2] {
            chunk::drop_chunk(r, first(large[i]));
        }
        let after = control::accounting(r);
        assert_eq!((after.chunks, after.live), (before.chunks - 3, before.live - 3 * 800_008));
        assert_eq!(control::live(r), after.live);
        // What stays can be used, moved, and added to.
        let more = batch::array(r, 100_000, |_| list);
        let dest = life::create();
        let mut roots = [list, large[1], large[3], large[4], more];
        let shapes = roots.map(shape);
        transmigrate::take(dest, r, &mut roots).unwrap();
        life::exit(r);
        assert!(roots.map(shape) == shapes);
        life::exit(dest);
    }
}
