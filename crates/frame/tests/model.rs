//! Frames against a model: whatever is done in whatever order, values keep their contents, blocks
//! never overlap, and ends and rollbacks give back exactly what was taken.

use allod_frame::{Arena, Frame, FrameGuard};
use core::alloc::Layout;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Block { size: usize, align_log: u32 },
    Text(String),
    Bytes(Vec<u8>),
    Numbers(Vec<u64>),
    Scope(Vec<Op>),
    Speculate { ops: Vec<Op>, keep: bool },
}

fn op() -> impl Strategy<Value = Op> {
    let size = prop_oneof![8 => 0..300usize, 2 => 300..20_000usize, 1 => 20_000..400_000usize];
    let leaf = prop_oneof![
        (size, 0..9u32).prop_map(|(size, align_log)| Op::Block { size, align_log }),
        ".{0,40}".prop_map(Op::Text),
        prop::collection::vec(any::<u8>(), 0..200).prop_map(Op::Bytes),
        prop::collection::vec(any::<u64>(), 0..100).prop_map(Op::Numbers),
    ];
    leaf.prop_recursive(3, 40, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Op::Scope),
            (prop::collection::vec(inner, 0..8), any::<bool>())
                .prop_map(|(ops, keep)| Op::Speculate { ops, keep }),
        ]
    })
}

/// The live blocks of the model: where they are and what they hold.
#[derive(Default)]
struct Model {
    blocks: Vec<(usize, Vec<u8>)>,
    fill: u8,
}

impl Model {
    fn enter(&mut self, start: *const u8, content: Vec<u8>) {
        let range = start as usize..start as usize + content.len();
        for (other, bytes) in &self.blocks {
            let apart = range.end <= *other || other + bytes.len() <= range.start;
            assert!(apart || bytes.is_empty() || range.is_empty(), "blocks overlap");
        }
        self.blocks.push((range.start, content));
    }

    fn check(&self) {
        for (start, bytes) in &self.blocks {
            // SAFETY: the block is live: its frame or scope has not ended.
            let found = unsafe { core::slice::from_raw_parts(*start as *const u8, bytes.len()) };
            assert_eq!(found, bytes);
        }
    }

    fn leaf(&mut self, frame: &Frame<'_>, op: &Op) {
        self.fill = self.fill.wrapping_add(1);
        match op {
            Op::Block { size, align_log } => {
                let layout = Layout::from_size_align(*size, 1 << align_log).unwrap();
                let block = frame.alloc_layout(layout).as_ptr();
                assert_eq!(block as usize % layout.align(), 0);
                // SAFETY: a new block of this size.
                unsafe { block.write_bytes(self.fill, *size) };
                self.enter(block, vec![self.fill; *size]);
            }
            Op::Text(text) => {
                let copy = frame.alloc_fmt(format_args!("{text}{}", self.fill));
                assert_eq!(*copy, *format!("{text}{}", self.fill));
                self.enter(copy.as_ptr(), copy.as_bytes().to_vec());
            }
            Op::Bytes(bytes) => {
                let odd = frame.alloc_slice_from_iter(bytes.iter().copied().filter(|b| b & 1 == 1));
                self.enter(odd.as_ptr(), odd.to_vec());
                let copy = frame.alloc_slice_copy(bytes);
                self.enter(copy.as_ptr(), bytes.clone());
            }
            Op::Numbers(numbers) => {
                let copy = frame.batch::<u64>(numbers.len()).fill_with(|i| numbers[i]);
                let bytes = copy.iter().flat_map(|n| n.to_ne_bytes()).collect();
                self.enter(copy.as_ptr().cast(), bytes);
            }
            Op::Scope(_) | Op::Speculate { .. } => unreachable!("not a leaf"),
        }
    }

    fn run(&mut self, frame: &mut Frame<'_>, ops: &[Op]) {
        for op in ops {
            match op {
                Op::Scope(inner) => {
                    let (used, live) = (frame.used(), self.blocks.len());
                    frame.scope(|scope| self.run(scope, inner));
                    self.blocks.truncate(live);
                    assert_eq!(frame.used(), used);
                }
                Op::Speculate { ops, keep } => {
                    let (used, live) = (frame.used(), self.blocks.len());
                    let result = frame.speculate(|scope| {
                        self.run(scope, ops);
                        if *keep { Ok(scope.alloc(5u32)) } else { Err(()) }
                    });
                    match result {
                        Ok(five) => self.enter((five as *const u32).cast(), vec![5, 0, 0, 0]),
                        Err(()) => {
                            self.blocks.truncate(live);
                            assert_eq!(frame.used(), used);
                        }
                    }
                }
                leaf => self.leaf(frame, leaf),
            }
            self.check();
        }
    }
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
