//! Frames against a model: whatever is done in whatever order, values keep their contents, blocks
//! never overlap, and ends and rollbacks give back exactly what was taken.
#![cfg(feature = "allocator-api2")]

mod shadow;

use allod_frame::{Arena, FrameGuard};
use proptest::prelude::*;
use shadow::{Model, Op};

fn op() -> impl Strategy<Value = Op> {
    let size = prop_oneof![8 => 0..300usize, 2 => 300..20_000usize, 1 => 20_000..400_000usize];
    let leaf = prop_oneof![
        (size, 0..9u32).prop_map(|(size, align_log)| Op::Block { size, align_log }),
        ".{0,40}".prop_map(Op::Text),
        prop::collection::vec(any::<u8>(), 0..200).prop_map(Op::Bytes),
        prop::collection::vec(any::<u64>(), 0..100).prop_map(Op::Numbers),
        Just(Op::Page),
        (0..3000usize, 0..3000usize).prop_map(|(a, b)| Op::Lists(a, b)),
    ];
    leaf.prop_recursive(3, 40, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Op::Scope),
            (prop::collection::vec(inner, 0..8), any::<bool>())
                .prop_map(|(ops, keep)| Op::Speculate { ops, keep }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn contents_stay_and_ends_give_back(frames in prop::collection::vec(prop::collection::vec(op(), 0..20), 1..4)) {
        let mut arena = Arena::new();
        for ops in &frames {
            arena.frame(|f| {
                assert_eq!(f.used(), 0);
                Model::default().run(f, ops);
            });
        }
        let reserved = arena.reserved();
        for ops in &frames {
            arena.frame(|f| Model::default().run(f, ops));
        }
        prop_assert_eq!(arena.reserved(), reserved, "the second round needs no new chunk");
    }

    #[test]
    fn bytes_of_a_fuzzer_are_frames(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        shadow::run_bytes(&bytes);
    }

    #[test]
    fn rollback_restores_every_checkpoint(
        steps in prop::collection::vec((prop::collection::vec(op(), 0..6), any::<prop::sample::Index>()), 1..12),
    ) {
        let mut arena = Arena::new();
        let mut guard = arena.begin();
        let mut model = Model::default();
        let mut checkpoints = vec![(guard.checkpoint(), 0, 0)];
        for (ops, back) in &steps {
            for op in ops.iter().filter(|op| !matches!(op, Op::Scope(_) | Op::Speculate { .. })) {
                model.leaf(guard.frame(), op);
            }
            model.check();
            checkpoints.push((guard.checkpoint(), guard.frame().used(), model.blocks.len()));
            let n = back.index(checkpoints.len());
            let (checkpoint, used, live) = checkpoints[n];
            checkpoints.truncate(n + 1);
            guard.rollback(checkpoint);
            model.blocks.truncate(live);
            prop_assert_eq!(guard.frame().used(), used);
            model.check();
        }
        FrameGuard::end(guard);
    }
}
