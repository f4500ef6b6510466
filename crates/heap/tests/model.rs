//! Random operation sequences against a shadow model: overlap, alignment, contents, sizes.

use allod_heap as heap;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Op {
    Malloc(usize),
    Zeroed(usize),
    Aligned(u32, usize),
    Realloc(usize, usize),
    Free(usize),
    Purge,
}

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
    ];
    prop::collection::vec(op, 1..400)
}

/// The live blocks: address, size and the byte each is filled with.
#[derive(Default)]
struct Model {
    live: BTreeMap<usize, (usize, u8)>,
    next: u8,
}

impl Model {
    fn add(&mut self, p: *mut u8, size: usize, align: usize) {
        assert!(!p.is_null());
        let at = p as usize;
        assert_eq!(at % align, 0, "alignment");
        // SAFETY: a live block.
        assert!(unsafe { heap::usable_size(p) } >= size);
        if let Some((&b, &(len, _))) = self.live.range(..=at).next_back() {
            assert!(b + len.max(1) <= at, "overlap with the block before");
        }
        if let Some((&b, _)) = self.live.range(at..).next() {
            assert!(at + size.max(1) <= b, "overlap with the block after");
        }
        self.next = self.next.wrapping_add(1);
        // SAFETY: the block is ours.
        unsafe { p.write_bytes(self.next, size) };
        self.live.insert(at, (size, self.next));
    }

    fn check(&self, at: usize, upto: usize) {
        let (size, fill) = self.live[&at];
        // SAFETY: a live block of this size.
        let bytes = unsafe { std::slice::from_raw_parts(at as *const u8, size.min(upto)) };
        assert!(bytes.iter().all(|&b| b == fill), "contents of {at:#x}");
    }

    fn nth(&self, i: usize) -> Option<usize> {
        (!self.live.is_empty()).then(|| *self.live.keys().nth(i % self.live.len()).unwrap())
    }

    fn run(&mut self, op: &Op) {
        match *op {
            Op::Malloc(size) => self.add(heap::malloc(size), size, 16),
            Op::Zeroed(size) => {
                let p = heap::malloc_zeroed(size);
                // SAFETY: the block is ours.
                let bytes = unsafe { std::slice::from_raw_parts(p, size) };
                assert!(bytes.iter().all(|&b| b == 0), "zeroed");
                self.add(p, size, 16);
            }
            Op::Aligned(shift, size) => {
                self.add(heap::aligned_alloc(1 << shift, size), size, 1 << shift)
            }
            Op::Realloc(i, size) => {
                let Some(at) = self.nth(i) else { return };
                self.check(at, usize::MAX);
                let (_, fill) = self.live[&at];
                let (old, _) = self.live.remove(&at).unwrap();
                // SAFETY: a live block.
                let p = unsafe { heap::realloc(at as *mut u8, size) };
                // SAFETY: the moved block holds both sizes' minimum.
                let kept = unsafe { std::slice::from_raw_parts(p, old.min(size)) };
                assert!(kept.iter().all(|&b| b == fill), "contents kept by realloc");
                self.add(p, size, 16);
            }
            Op::Free(i) => {
                let Some(at) = self.nth(i) else { return };
                self.check(at, usize::MAX);
                self.live.remove(&at);
                // SAFETY: a live block, not used again.
                unsafe { heap::free(at as *mut u8) };
            }
            Op::Purge => {
                heap::purge_all();
            }
        }
    }

    fn finish(mut self) {
        while let Some(at) = self.nth(0) {
            self.check(at, usize::MAX);
            self.live.remove(&at);
            // SAFETY: a live block, not used again.
            unsafe { heap::free(at as *mut u8) };
        }
    }
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
