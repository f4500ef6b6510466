//! Which block each address meant at that moment.
//!
//! A trace names blocks by their addresses, which are reused. Going through it in order
//! distinguishes the blocks. A recording may have gaps: it begins when the program already holds
//! blocks, a forked child inherits its parent's, a free inside a signal handler is not seen.
//! Unclear cases are counted, never guessed.

use crate::merge::{Action, Step, Trace};
use allod_trace_core::event::Call;
use std::collections::HashMap;

/// How a block was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// By `malloc`, or by `realloc` of a null pointer.
    Malloc,
    /// By `calloc`.
    Calloc,
    /// By a function that takes an alignment.
    Aligned,
}

/// One block from its allocation to its free, or to the `realloc` that turns it into another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its number, from 0 in the order of allocation.
    pub id: u32,
    /// Its address in the recorded process.
    pub address: u64,
    /// Requested bytes.
    pub size: u64,
    /// The requested alignment, as the exponent of 2; 0 if none.
    pub align_log2: u8,
    /// How it came to be.
    pub how: How,
    /// The thread that allocated it.
    pub thread: usize,
    /// The number of the call that allocated it; a `realloc` passes it on.
    pub born: u64,
}

/// What a step did to blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A block was allocated.
    Alloc(Block),
    /// A block was freed.
    Free(Block),
    /// A block replaced another one; `from` is missing if that was unknown.
    Realloc {
        /// The old block.
        from: Option<Block>,
        /// The new one.
        to: Block,
    },
    /// `free` of a null pointer.
    FreeNull,
    /// `free` of a block that the trace does not know.
    FreeUnknown,
    /// An allocation failed.
    Failed,
    /// The address of a block was handed out again: its free was not seen.
    Lost(Block),
}

/// Follows a trace and keeps track of the live blocks.
#[derive(Debug, Default)]
pub struct Blocks {
    live: HashMap<u64, Block>,
    /// What a thread's `realloc` is working on.
    busy: HashMap<usize, Block>,
    next: u32,
}

impl Blocks {
    /// Goes through a whole trace; returns the blocks that are live at its end.
    ///
    /// # Panics
    /// When the trace has more than four billion allocations.
    pub fn follow(trace: &Trace, mut act: impl FnMut(&Step, Act)) -> Self {
        let mut blocks = Self::default();
        for step in trace.steps() {
            blocks.step(&step, |done| act(&step, done));
        }
        blocks
    }

    /// The live blocks.
    pub fn live(&self) -> impl Iterator<Item = &Block> {
        self.live.values()
    }

    fn step(&mut self, step: &Step, mut act: impl FnMut(Act)) {
        match step.action {
            Action::Whole(Call::Malloc { size, address }) => {
                self.allocated(step, How::Malloc, address, size, 0, act);
            }
            Action::Whole(Call::Calloc { size, address }) => {
                self.allocated(step, How::Calloc, address, size, 0, act);
            }
            Action::Whole(Call::Aligned { size, align_log2, address }) => {
                self.allocated(step, How::Aligned, address, size, align_log2, act);
            }
            Action::Whole(Call::Free { address: 0 }) => act(Act::FreeNull),
            Action::Whole(Call::Free { address }) => {
                act(self.live.remove(&address).map_or(Act::FreeUnknown, Act::Free));
            }
            Action::ReallocBegins { old } => {
                self.busy.extend(self.live.remove(&old).map(|block| (step.thread, block)));
            }
            Action::ReallocEnds { old, size, new } => self.resized(step, old, size, new, act),
            Action::Whole(Call::Realloc { .. }) => unreachable!("a realloc has two steps"),
        }
    }

    fn allocated(
        &mut self,
        step: &Step,
        how: How,
        address: u64,
        size: u64,
        align_log2: u8,
        mut act: impl FnMut(Act),
    ) {
        if address == 0 {
            return act(Act::Failed);
        }
        let block = Block {
            id: self.number(),
            address,
            size,
            align_log2,
            how,
            thread: step.thread,
            born: step.sequence,
        };
        self.enter(block, &mut act);
        act(Act::Alloc(block));
    }

    fn resized(&mut self, step: &Step, old: u64, size: u64, new: u64, mut act: impl FnMut(Act)) {
        let from = self.busy.remove(&step.thread);
        if new == 0 {
            return match from {
                _ if size > 0 => {
                    // It failed, and the old block is unchanged.
                    self.live.extend(from.map(|block| (old, block)));
                    act(Act::Failed);
                }
                Some(block) => act(Act::Free(block)),
                None => act(Act::FreeUnknown),
            };
        }
        if old == 0 {
            return self.allocated(step, How::Malloc, new, size, 0, act);
        }
        let to = Block {
            id: self.number(),
            address: new,
            size,
            align_log2: 0,
            how: from.map_or(How::Malloc, |block| block.how),
            thread: step.thread,
            born: from.map_or(step.sequence, |block| block.born),
        };
        self.enter(to, &mut act);
        act(Act::Realloc { from, to });
    }

    fn enter(&mut self, block: Block, mut act: impl FnMut(Act)) {
        if let Some(lost) = self.live.insert(block.address, block) {
            act(Act::Lost(lost));
        }
    }

    fn number(&mut self) -> u32 {
        let id = self.next;
        self.next = id.checked_add(1).expect("at most four billion allocations");
        id
    }
}
