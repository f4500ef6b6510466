//! Budgets against a model: whatever is done in whatever order, what is in use is what lives, and
//! exactly what exceeds a limit is refused.
#![cfg(feature = "budgets")]

use allod_frame::budgets::{self, Limits, Of};
use allod_frame::tags::Tag;
use allod_frame::{Arena, Frame};
use proptest::prelude::*;

/// The third is a part of the second.
static TAGS: [Tag; 3] = [Tag::new("m-one"), Tag::new("m-two"), Tag::new("m-two/part")];

#[derive(Clone, Debug)]
enum Op {
    Alloc {
        tag: usize,
        bytes: usize,
    },
    /// A value that is dropped, between charges.
    Drop,
    /// A sequence of unknown length, which grows in place and gives back what it has too much.
    Iterate {
        tag: usize,
        bytes: usize,
    },
    Limit {
        tag: usize,
        hard: Option<usize>,
    },
    Scope(Vec<Op>),
    Speculate {
        ops: Vec<Op>,
        keep: bool,
    },
}

fn op() -> impl Strategy<Value = Op> {
    let bytes = prop_oneof![4 => 0..300usize, 2 => 300..20_000usize, 1 => 20_000..300_000usize];
    let hard = prop_oneof![2 => Just(None), 3 => (0..400_000usize).prop_map(Some)];
    let leaf = prop_oneof![
        6 => (0..3usize, bytes).prop_map(|(tag, bytes)| Op::Alloc { tag, bytes }),
        1 => Just(Op::Drop),
        1 => (0..3usize, 0..5000usize).prop_map(|(tag, bytes)| Op::Iterate { tag, bytes }),
        1 => (0..3usize, hard).prop_map(|(tag, hard)| Op::Limit { tag, hard }),
    ];
    leaf.prop_recursive(3, 60, 10, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..10).prop_map(Op::Scope),
            (prop::collection::vec(inner, 0..10), any::<bool>())
                .prop_map(|(ops, keep)| Op::Speculate { ops, keep }),
        ]
    })
}

/// What is in use under each tag by itself, and the limits.
#[derive(Clone, Copy, Default)]
struct Model {
    used: [usize; 3],
    hard: [Option<usize>; 3],
}

impl Model {
    /// In use under a tag and its parts.
    fn total(&self, tag: usize) -> usize {
        self.used[tag] + if tag == 1 { self.used[2] } else { 0 }
    }

    fn fits(&self, tag: usize, bytes: usize) -> bool {
        let within = |tag: usize| self.hard[tag].is_none_or(|hard| self.total(tag) + bytes <= hard);
        // Nothing is never too much.
        bytes == 0 || within(tag) && (tag != 2 || within(1))
    }

    fn check(&self) {
        for (tag, budget) in TAGS.iter().enumerate() {
            assert_eq!(budgets::used(Of::Tag(budget)), self.total(tag), "{}", budget.name());
        }
    }

    fn run(&mut self, frame: &mut Frame<'_>, ops: &[Op]) {
        for op in ops {
            match op {
                Op::Alloc { tag, bytes } => {
                    let fits = self.fits(*tag, *bytes);
                    let made = TAGS[*tag].with(|| frame.try_alloc_slice_fill(*bytes, 7u8).is_ok());
                    assert_eq!(made, fits, "{bytes} bytes under {tag}");
                    self.used[*tag] += if fits { *bytes } else { 0 };
                }
                Op::Drop => {
                    // Under no tag.
                    frame.alloc_drop(String::from("dropped"));
                }
                Op::Iterate { tag, bytes } => {
                    // What does not fit while it grows stays in the frame, however much that is.
                    if self.hard.iter().all(Option::is_none) {
                        let before = budgets::used(Of::Tag(&TAGS[*tag]));
                        let values = (0..*bytes).filter(|i| *i < usize::MAX).map(|i| i as u8);
                        let made = TAGS[*tag].with(|| frame.alloc_slice_from_iter(values).len());
                        let more = budgets::used(Of::Tag(&TAGS[*tag])) - before;
                        assert!(made == *bytes && more >= *bytes);
                        self.used[*tag] += more;
                    }
                }
                Op::Limit { tag, hard } => {
                    self.hard[*tag] = *hard;
                    budgets::set(Of::Tag(&TAGS[*tag]), Limits { soft: None, hard: *hard });
                }
                Op::Scope(ops) => {
                    let used = self.used;
                    frame.scope(|scope| self.run(scope, ops));
                    self.used = used;
                }
                Op::Speculate { ops, keep } => {
                    let used = self.used;
                    let kept = frame.speculate(|scope| {
                        self.run(scope, ops);
                        if *keep { Ok(scope.try_alloc(()).unwrap()) } else { Err(()) }
                    });
                    if kept.is_err() {
                        self.used = used;
                    }
                }
            }
            self.check();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_is_in_use_is_what_lives_and_limits_hold_exactly(
        frames in prop::collection::vec(prop::collection::vec(op(), 0..20), 1..4),
    ) {
        let mut arena = Arena::new();
        let mut model = Model::default();
        for tag in &TAGS {
            budgets::set(Of::Tag(tag), Limits::none());
        }
        for ops in &frames {
            let mut guard = arena.begin();
            model.roll_back(&mut guard, ops);
            guard.end();
            model.used = [0; 3];
            model.check();
            arena.frame(|frame| model.run(frame, ops));
            model.used = [0; 3];
            model.check();
        }
    }
}

impl Model {
    /// Makes the allocations among the first half, and rolls those among the second half back.
    fn roll_back(&mut self, guard: &mut allod_frame::FrameGuard<'_>, ops: &[Op]) {
        let (first, second) = ops.split_at(ops.len() / 2);
        let allocs = |ops: &[Op]| -> Vec<(usize, usize)> {
            let of = |op: &Op| match op {
                Op::Alloc { tag, bytes } => Some((*tag, *bytes)),
                _ => None,
            };
            ops.iter().filter_map(of).collect()
        };
        self.plain(guard, &allocs(first));
        let (checkpoint, used) = (guard.checkpoint(), self.used);
        self.plain(guard, &allocs(second));
        guard.rollback(checkpoint);
        self.used = used;
        self.check();
    }

    fn plain(&mut self, guard: &allod_frame::FrameGuard<'_>, allocs: &[(usize, usize)]) {
        for (tag, bytes) in allocs {
            let fits = self.fits(*tag, *bytes);
            let made = TAGS[*tag].with(|| guard.frame().try_alloc_slice_fill(*bytes, 1u8).is_ok());
            assert_eq!(made, fits);
            self.used[*tag] += if fits { *bytes } else { 0 };
            self.check();
        }
    }
}
