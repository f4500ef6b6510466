//! The summary of a trace: sizes, lifetimes, which threads free whose blocks, the peak.

use crate::blocks::{Act, Block, Blocks, How};
use crate::merge::{Step, Trace};
use serde::Serialize;
use std::collections::BTreeMap;

/// Points of [`Census::curve`].
pub const CURVE: usize = 60;

/// All counts, in the form of `allod trace --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Census {
    /// The version of this form: 1.
    pub schema: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Whether the trace has an end; that of a killed program does not.
    pub complete: bool,
    /// Nanoseconds from the beginning of the recording to its end; if it has none, to the last
    /// time a thread began a block.
    pub duration_ns: u64,
    /// Calls of the program.
    pub events: u64,
    /// Calls that interrupted the recorder and are not in the trace.
    pub missed: u64,
    /// Calls by kind.
    pub calls: Calls,
    /// The live blocks at the peak.
    pub peak: Peak,
    /// Blocks that were never freed.
    pub left: Total,
    /// Allocations by size, in doublings.
    pub sizes: Vec<Band>,
    /// Freed blocks by the number of calls between allocation and free, in factors of
    /// eight.
    pub lifetimes: Vec<Band>,
    /// Each thread's share, in the order in which they first called.
    pub threads: Vec<Thread>,
    /// Freed blocks by allocating and freeing thread.
    pub crossings: Vec<Crossing>,
    /// What `realloc` did.
    pub realloc: Reallocs,
    /// Live bytes after each sixtieth of the calls.
    pub curve: Vec<u64>,
}

/// Calls by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Calls {
    /// `malloc`.
    pub malloc: u64,
    /// `calloc`.
    pub calloc: u64,
    /// `posix_memalign`, `aligned_alloc` and their relatives.
    pub aligned: u64,
    /// `realloc` of a block; of a null pointer it counts as `malloc`.
    pub realloc: u64,
    /// `free` of a block.
    pub free: u64,
    /// `free` of a null pointer.
    pub free_null: u64,
    /// `free` of a block whose allocation was not recorded.
    pub free_unknown: u64,
    /// Allocations that failed.
    pub failed: u64,
    /// Blocks whose free was not seen, but whose addresses were handed out again.
    pub lost: u64,
}

/// Blocks and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Total {
    /// How many.
    pub blocks: u64,
    /// Bytes asked for.
    pub bytes: u64,
}

impl Total {
    fn add(&mut self, block: &Block) {
        self.blocks += 1;
        self.bytes = self.bytes.saturating_add(block.size);
    }

    fn remove(&mut self, block: &Block) {
        self.blocks -= 1;
        self.bytes = self.bytes.saturating_sub(block.size);
    }
}

/// The moment at which live blocks had the most bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Peak {
    /// Live blocks.
    pub blocks: u64,
    /// Bytes asked for in them.
    pub bytes: u64,
    /// The number of the call.
    pub sequence: u64,
}

/// Blocks whose size or lifetime is between two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Band {
    /// The least number.
    pub from: u64,
    /// The greatest.
    pub to: u64,
    /// The blocks.
    #[serde(flatten)]
    pub total: Total,
}

/// A thread's share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Thread {
    /// Its number, from 1.
    pub thread: usize,
    /// Blocks that it allocated.
    pub allocated: Total,
    /// Blocks that it freed.
    pub freed: Total,
    /// Calls of `realloc`.
    pub reallocs: u64,
}

/// Blocks that one thread allocated and one freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Crossing {
    /// The thread that allocated, from 1.
    pub allocated_by: usize,
    /// The thread that freed, from 1.
    pub freed_by: usize,
    /// The blocks.
    #[serde(flatten)]
    pub total: Total,
}

/// What `realloc` did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reallocs {
    /// To a larger size.
    pub grew: u64,
    /// To a smaller size.
    pub shrank: u64,
    /// To the same size, or of a block of unknown size.
    pub other: u64,
    /// The block's address changed.
    pub moved: u64,
    /// Bytes moved by these: the smaller of a block's two sizes.
    pub moved_bytes: u64,
    /// The longest chain of `realloc` calls on one block.
    pub longest_row: u64,
}

impl Census {
    /// Counts a whole trace.
    pub fn of(trace: &Trace) -> Self {
        let mut count = Count::new(trace);
        let blocks = Blocks::follow(trace, |step, act| count.act(step, act));
        count.finish(&blocks)
    }

    /// Blocks that another thread freed than allocated them.
    pub fn crossed(&self) -> u64 {
        let crossed = self.crossings.iter().filter(|c| c.allocated_by != c.freed_by);
        crossed.map(|c| c.total.blocks).sum()
    }
}

struct Count {
    census: Census,
    live: Total,
    acts: u64,
    sizes: BTreeMap<u32, Total>,
    lifetimes: BTreeMap<u32, Total>,
    crossings: BTreeMap<(usize, usize), Total>,
    /// The number of `realloc` calls on each live block, by its number.
    rows: BTreeMap<u32, u64>,
}

impl Count {
    fn new(trace: &Trace) -> Self {
        let last = trace.blocks().map(|block| block.header.time).max().unwrap_or(0);
        let thread = |i| Thread { thread: i + 1, ..Thread::default() };
        let census = Census {
            schema: 1,
            command: trace.origin.command.clone(),
            complete: trace.end.is_some(),
            duration_ns: trace.end.map_or(last, |end| end.time),
            events: trace.events(),
            missed: trace.end.map_or(0, |end| end.missed),
            calls: Calls::default(),
            peak: Peak::default(),
            left: Total::default(),
            sizes: Vec::new(),
            lifetimes: Vec::new(),
            threads: (0..trace.threads()).map(thread).collect(),
            crossings: Vec::new(),
            realloc: Reallocs::default(),
            curve: Vec::new(),
        };
        Self {
            census,
            live: Total::default(),
            acts: 0,
            sizes: BTreeMap::new(),
            lifetimes: BTreeMap::new(),
            crossings: BTreeMap::new(),
            rows: BTreeMap::new(),
        }
    }

    fn act(&mut self, step: &Step, act: Act) {
        let calls = &mut self.census.calls;
        match act {
            Act::Alloc(block) => {
                *match block.how {
                    How::Malloc => &mut calls.malloc,
                    How::Calloc => &mut calls.calloc,
                    How::Aligned => &mut calls.aligned,
                } += 1;
                self.begins(&block);
            }
            Act::Free(block) => {
                calls.free += 1;
                self.census.threads[step.thread].freed.add(&block);
                self.rows.remove(&block.id);
                self.ends(step, &block);
            }
            Act::Realloc { from, to } => {
                calls.realloc += 1;
                self.census.threads[step.thread].reallocs += 1;
                self.resized(from.as_ref(), &to);
            }
            Act::FreeNull => calls.free_null += 1,
            Act::FreeUnknown => calls.free_unknown += 1,
            Act::Failed => calls.failed += 1,
            Act::Lost(block) => {
                calls.lost += 1;
                self.live.remove(&block);
                // Not a separate call.
                return;
            }
        }
        self.mark(step);
    }

    fn begins(&mut self, block: &Block) {
        self.live.add(block);
        self.census.threads[block.thread].allocated.add(block);
        self.sizes.entry(doubling(block.size)).or_default().add(block);
    }

    fn ends(&mut self, step: &Step, block: &Block) {
        self.live.remove(block);
        let life = step.sequence - block.born;
        self.lifetimes.entry(eightfold(life)).or_default().add(block);
        self.crossings.entry((block.thread, step.thread)).or_default().add(block);
    }

    fn resized(&mut self, from: Option<&Block>, to: &Block) {
        let realloc = &mut self.census.realloc;
        match from.map(|from| from.size.cmp(&to.size)) {
            Some(std::cmp::Ordering::Less) => realloc.grew += 1,
            Some(std::cmp::Ordering::Greater) => realloc.shrank += 1,
            _ => realloc.other += 1,
        }
        let mut row = 1;
        if let Some(from) = from {
            if from.address != to.address {
                realloc.moved += 1;
                realloc.moved_bytes = realloc.moved_bytes.saturating_add(from.size.min(to.size));
            }
            row += self.rows.remove(&from.id).unwrap_or(0);
            self.live.remove(from);
        }
        realloc.longest_row = realloc.longest_row.max(row);
        self.rows.insert(to.id, row);
        self.begins(to);
    }

    fn mark(&mut self, step: &Step) {
        self.acts += 1;
        if self.live.bytes > self.census.peak.bytes {
            let Total { blocks, bytes } = self.live;
            self.census.peak = Peak { blocks, bytes, sequence: step.sequence };
        }
        let due = (self.census.curve.len() as u64 + 1) * self.census.events;
        if self.acts * CURVE as u64 >= due {
            self.census.curve.push(self.live.bytes);
        }
    }

    fn finish(mut self, blocks: &Blocks) -> Census {
        blocks.live().for_each(|block| self.census.left.add(block));
        self.census.sizes = bands(self.sizes, |band| match band {
            SMALLEST => (0, 1 << SMALLEST),
            _ => (doublings(band - 1).saturating_add(1), doublings(band)),
        });
        self.census.lifetimes = bands(self.lifetimes, |band| match band {
            0 => (0, 7),
            _ => (1 << (3 * band), doublings(3 * band + 3).wrapping_sub(1)),
        });
        let crossing = |((allocated_by, freed_by), total)| Crossing {
            allocated_by: allocated_by + 1,
            freed_by: freed_by + 1,
            total,
        };
        self.census.crossings = self.crossings.into_iter().map(crossing).collect();
        self.census
    }
}

fn bands(totals: BTreeMap<u32, Total>, range: impl Fn(u32) -> (u64, u64)) -> Vec<Band> {
    let band = |(number, total)| {
        let (from, to) = range(number);
        Band { from, to, total }
    };
    totals.into_iter().map(band).collect()
}

/// The band of the smallest sizes: up to 16 bytes.
const SMALLEST: u32 = 4;

/// The band of sizes up to the next power of two.
fn doubling(size: u64) -> u32 {
    if size <= 1 << SMALLEST { SMALLEST } else { (size - 1).ilog2() + 1 }
}

/// 2 to the `exponent`, or the greatest number.
fn doublings(exponent: u32) -> u64 {
    1u64.checked_shl(exponent).unwrap_or(u64::MAX)
}

/// The band of a lifetime, by powers of 8.
fn eightfold(life: u64) -> u32 {
    life.max(1).ilog2() / 3
}
