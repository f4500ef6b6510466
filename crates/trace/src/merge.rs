//! All threads' events in one order.

use crate::reader::{Block, Error, Events, Origin, Reader};
use allod_trace_core::event::{Call, Event};
use allod_trace_core::file::End;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A whole trace in memory.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Where it came from.
    pub origin: Origin,
    /// Each thread's blocks, in order; threads in the order in which they first called.
    threads: Vec<Vec<Block>>,
    /// Its end record; `None` if it has none.
    pub end: Option<End>,
}

impl Trace {
    /// Reads a file.
    ///
    /// # Errors
    /// In one sentence that names the file: it cannot be read, is not a trace, or is damaged.
    pub fn open(path: &Path) -> Result<Self, String> {
        let in_words = |error: Error| format!("{}: {error}", path.display());
        Self::read(File::open(path).map_err(|e| in_words(e.into()))?).map_err(in_words)
    }

    /// Reads a trace.
    ///
    /// # Errors
    /// When this is not a trace, or is damaged.
    pub fn read(input: impl Read) -> Result<Self, Error> {
        let mut reader = Reader::new(input)?;
        let mut blocks = Vec::new();
        while let Some(block) = reader.next_block()? {
            blocks.push(block);
        }
        blocks.sort_by_key(|block| (block.header.thread, block.header.sequence));
        let mut threads: Vec<Vec<Block>> = Vec::new();
        for block in blocks {
            match threads.last_mut() {
                Some(own) if own[0].header.thread == block.header.thread => {
                    follows(&own[own.len() - 1], &block)?;
                    own.push(block);
                }
                _ => threads.push(vec![block]),
            }
        }
        Ok(Self { origin: reader.origin().clone(), threads, end: reader.end() })
    }

    /// How many threads called.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// How many events there are.
    pub fn events(&self) -> u64 {
        self.threads.iter().flatten().map(|block| u64::from(block.count())).sum()
    }

    /// The blocks of all threads.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.threads.iter().flatten()
    }

    /// All steps, in order.
    pub fn steps(&self) -> Steps<'_> {
        let mut steps = Steps { cursors: Vec::new(), next: BinaryHeap::new() };
        for (thread, blocks) in self.threads.iter().enumerate() {
            let mut cursor = Cursor { blocks, events: None, pending: None };
            cursor.advance();
            steps.next.extend(cursor.key().map(|key| Reverse((key, thread))));
            steps.cursors.push(cursor);
        }
        steps
    }
}

/// A thread does one thing at a time.
fn follows(before: &Block, after: &Block) -> Result<(), Error> {
    if after.header.sequence > before.last() {
        return Ok(());
    }
    let what = "the block's numbers are those of an earlier block";
    Err(Error::Damaged { offset: after.offset, what })
}

/// A step: what happened at one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number.
    pub sequence: u64,
    /// The thread, counted from 0.
    pub thread: usize,
    /// What happened.
    pub action: Action,
}

/// What happened at a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A call that has one number.
    Whole(Call),
    /// A `realloc` began: from now on it may free the block at this address.
    ReallocBegins {
        /// The address handed in.
        old: u64,
    },
    /// It is done.
    ReallocEnds {
        /// The address handed in.
        old: u64,
        /// Bytes asked for.
        size: u64,
        /// The address given.
        new: u64,
    },
}

#[derive(Clone, Debug)]
struct Cursor<'a> {
    blocks: &'a [Block],
    events: Option<Events<'a>>,
    pending: Option<(Event, bool)>,
}

impl Cursor<'_> {
    /// The number of the thread's next step.
    fn key(&self) -> Option<u64> {
        self.pending.map(|(event, begun)| if begun { event.end() } else { event.sequence })
    }

    fn advance(&mut self) {
        loop {
            if let Some(event) = self.events.as_mut().and_then(Iterator::next) {
                self.pending = Some((event, false));
                return;
            }
            let Some((first, rest)) = self.blocks.split_first() else {
                self.pending = None;
                return;
            };
            (self.events, self.blocks) = (Some(first.events()), rest);
        }
    }

    fn take(&mut self) -> Option<(u64, Action)> {
        let key = self.key()?;
        let (event, begun) = self.pending?;
        let action = match event.call {
            Call::Realloc { old, .. } if !begun => {
                self.pending = Some((event, true));
                return Some((key, Action::ReallocBegins { old }));
            }
            Call::Realloc { old, size, new, .. } => Action::ReallocEnds { old, size, new },
            call => Action::Whole(call),
        };
        self.advance();
        Some((key, action))
    }
}

/// Goes through a [`Trace`] in the order of numbers.
#[derive(Clone, Debug)]
pub struct Steps<'a> {
    cursors: Vec<Cursor<'a>>,
    next: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Iterator for Steps<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let Reverse((_, thread)) = self.next.pop()?;
        let (sequence, action) = self.cursors[thread].take()?;
        self.next.extend(self.cursors[thread].key().map(|key| Reverse((key, thread))));
        Some(Step { sequence, thread, action })
    }
}
