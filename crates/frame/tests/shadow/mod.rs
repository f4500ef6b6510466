//! A shadow of a frame: what lives where, and holds what. Shared by the property tests and the fuzzer
//! (`fuzz/`).

use allocator_api2::vec::Vec as List;
use allod_frame::{Arena, Frame};
use core::alloc::Layout;

/// One thing done in a frame.
#[derive(Clone, Debug)]
pub enum Op {
    Block {
        size: usize,
        align_log: u32,
    },
    Text(String),
    Bytes(Vec<u8>),
    Numbers(Vec<u64>),
    /// A value whose size is a multiple of 1 KiB.
    Page,
    /// Two lists that grow in turn, the first one by so many, then keep what they hold.
    Lists(usize, usize),
    Scope(Vec<Op>),
    Speculate {
        ops: Vec<Op>,
        keep: bool,
    },
}

/// The live blocks of the model: where they are and what they hold.
#[derive(Default)]
pub struct Model {
    pub blocks: Vec<(usize, Vec<u8>)>,
    fill: u8,
}

impl Model {
    pub fn enter(&mut self, start: *const u8, content: Vec<u8>) {
        let range = start as usize..start as usize + content.len();
        for (other, bytes) in &self.blocks {
            let apart = range.end <= *other || other + bytes.len() <= range.start;
            assert!(apart || bytes.is_empty() || range.is_empty(), "blocks overlap");
        }
        self.blocks.push((range.start, content));
    }

    pub fn check(&self) {
        for (start, bytes) in &self.blocks {
            // SAFETY: the block is live: its frame or scope has not ended.
            let found = unsafe { core::slice::from_raw_parts(*start as *const u8, bytes.len()) };
            assert_eq!(found, bytes);
        }
    }

    pub fn leaf(&mut self, frame: &Frame<'_>, op: &Op) {
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
            Op::Page => {
                let page = frame.alloc([self.fill; 4096]);
                self.enter(page.as_ptr(), page.to_vec());
            }
            Op::Lists(first, second) => {
                let (mut a, mut b) = (List::new_in(frame), List::new_in(frame));
                for i in 0..*first.max(second) {
                    a.extend((i < *first).then_some(self.fill));
                    b.extend((i < *second).then_some(i as u8));
                }
                a.shrink_to_fit();
                assert!(a.iter().all(|&byte| byte == self.fill));
                self.enter(a.as_ptr(), a.to_vec());
                self.enter(b.as_ptr(), b.to_vec());
                // What they hold stays until the frame ends.
                core::mem::forget((a, b));
            }
            Op::Scope(_) | Op::Speculate { .. } => unreachable!("not a leaf"),
        }
    }

    pub fn run(&mut self, frame: &mut Frame<'_>, ops: &[Op]) {
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

/// Frames made of a fuzzer's bytes.
pub fn run_bytes(bytes: &[u8]) {
    let mut arena = Arena::new();
    let mut bytes = bytes.iter().copied();
    loop {
        let ops = ops_of(&mut bytes, 0);
        if ops.is_empty() {
            return;
        }
        arena.frame(|frame| {
            assert_eq!(frame.used(), 0);
            Model::default().run(frame, &ops);
        });
    }
}

/// Reads operations up to the end of a scope.
fn ops_of(bytes: &mut impl Iterator<Item = u8>, depth: u32) -> Vec<Op> {
    let mut ops = Vec::new();
    while let Some(kind) = bytes.next() {
        let mut byte = || usize::from(bytes.next().unwrap_or(0));
        ops.push(match kind % 16 {
            0..=4 => Op::Block { size: byte(), align_log: u32::from(kind / 16 % 10) },
            5 => Op::Block { size: byte() << (kind / 16 % 12), align_log: byte() as u32 % 14 },
            6 => Op::Text("x".repeat(byte())),
            7 => Op::Bytes((0..byte()).map(|i| (i * 7) as u8).collect()),
            8 => Op::Numbers((0..byte() as u64).collect()),
            9 => Op::Page,
            10 | 11 => Op::Lists(byte() * 8, byte()),
            12 if depth < 6 => Op::Scope(ops_of(bytes, depth + 1)),
            13 | 14 if depth < 6 => {
                Op::Speculate { ops: ops_of(bytes, depth + 1), keep: kind % 16 == 13 }
            }
            _ => return ops,
        });
    }
    ops
}
