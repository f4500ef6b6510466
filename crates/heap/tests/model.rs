//! Random operation sequences against a shadow model: overlap, alignment, contents, sizes.

mod shadow;

use proptest::prelude::*;
use shadow::{Model, Op};

fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![
        6 => 0usize..300,
        4 => 0usize..5000,
        2 => 4000usize..70_000,
        1 => 30_000usize..1_200_000,
        1 => 1_000_000usize..6_000_000,
    ]
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        6 => sizes().prop_map(Op::Malloc),
        2 => sizes().prop_map(Op::Zeroed),
        2 => (4u32..18, sizes()).prop_map(|(a, s)| Op::Aligned(a, s)),
        3 => (any::<usize>(), sizes()).prop_map(|(i, s)| Op::Realloc(i, s)),
        8 => any::<usize>().prop_map(Op::Free),
        1 => Just(Op::Purge),
        2 => sizes().prop_map(Op::InHeap),
        1 => any::<usize>().prop_map(Op::FreeElsewhere),
        1 => Just(Op::DropHeap),
    ];
    prop::collection::vec(op, 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks_are_disjoint_aligned_and_keep_their_contents(ops in ops()) {
        let mut model = Model::default();
        for op in &ops {
            model.run(op);
        }
        model.finish();
    }

    #[test]
    fn two_threads_may_each_free_what_the_other_allocated(
        a in ops(), b in ops()
    ) {
        let (to_b, from_a) = std::sync::mpsc::channel::<Model>();
        let (to_a, from_b) = std::sync::mpsc::channel::<Model>();
        let half = |ops: Vec<Op>, to: std::sync::mpsc::Sender<Model>, from: std::sync::mpsc::Receiver<Model>| {
            std::thread::spawn(move || {
                let mut mine = Model::default();
                ops.iter().take(200).for_each(|op| mine.run(op));
                to.send(mine).unwrap();
                let mut other = from.recv().unwrap();
                ops.iter().skip(200).for_each(|op| other.run(op));
                other.finish();
            })
        };
        let x = half(a, to_b, from_b);
        let y = half(b, to_a, from_a);
        x.join().unwrap();
        y.join().unwrap();
    }
}

/// The fuzzer's harness on sequences that a plain generator makes, so that it is exercised without
/// a fuzzer too.
#[test]
fn sequences_read_from_bytes_hold_as_well() {
    let mut x = 0x9E37_79B9_7F4A_7C15u64;
    for _ in 0..40 {
        let bytes: Vec<u8> = std::iter::repeat_with(|| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x >> 32) as u8
        })
        .take(1500)
        .collect();
        shadow::run_bytes(&bytes);
    }
}
