//! A trace as instructions for the program that replays it.
//!
//! The program has a list of **operations** per thread and a table of **slots** that hold blocks, so
//! it need not look anything up while it is timed. A block that the same thread allocates and frees
//! is in a slot of that thread, which is reused. A block freed by another thread has its own slot,
//! used once: the freeing thread waits until the pointer is there, and for nothing else.
//!
//! The words of a plan are in the machine's byte order: a plan is made and read on one
//! machine. `crates/lab/workload/replay.c` reads them.

use crate::blocks::{Act, Block, Blocks, How};
use crate::merge::{Step, Trace};

const MAGIC: u64 = u64::from_ne_bytes(*b"ALPLAN01");
const NOBODY: u32 = u32::MAX;
/// The bits of a size in an operation's first word.
const SIZE_BITS: u32 = 48;

const MALLOC: u64 = 1;
const CALLOC: u64 = 2;
const ALIGNED: u64 = 3;
const REALLOC: u64 = 4;
const FREE: u64 = 5;
const FREE_NULL: u64 = 6;
const SPAWN: u64 = 7;
/// Follows a `REALLOC` and has the size of the old block.
const OLD: u64 = 8;
/// The block that is handed in may come from another thread.
const WAIT: u64 = 16;
/// The block that is made goes to another thread.
const SHARE: u64 = 32;

/// An operation: kind, alignment and size in one word, then the slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Operation {
    word: u64,
    from: u32,
    to: u32,
}

/// Instructions for the program that replays a trace.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    threads: Vec<List>,
    shared: u32,
    calls: u64,
}

/// The operations of one thread.
#[derive(Clone, Debug, Default)]
struct List {
    operations: Vec<Operation>,
    /// Slots that were used and are free.
    free: Vec<u32>,
    slots: u32,
}

impl Plan {
    /// Makes the plan of a trace.
    ///
    /// Blocks that the trace does not know are not freed, failed allocations are not repeated,
    /// and a block whose free was not seen is freed when its address is handed out again.
    ///
    /// # Errors
    /// When a block is larger than any machine's memory.
    pub fn of(trace: &Trace) -> Result<Self, &'static str> {
        let wanderers = Wanderers::of(trace);
        let mut making = Making {
            plan: Self { threads: vec![List::default(); trace.threads()], shared: 0, calls: 0 },
            places: vec![0; wanderers.by.len()],
            wanderers,
            begun: vec![false; trace.threads()],
            before: 0,
            too_large: false,
        };
        Blocks::follow(trace, |step, act| making.act(step, act));
        if making.too_large {
            return Err("it holds a block larger than any machine's memory");
        }
        Ok(making.plan)
    }

    /// How many calls the replay makes.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// How many threads it has.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// The plan as the program reads it.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Slots of two threads never share a cache line, with eight words to a line.
        let slots = |list: &List| u64::from(list.slots).next_multiple_of(8);
        let local: u64 = self.threads.iter().map(slots).sum();
        let operations: usize = self.threads.iter().map(|list| list.operations.len()).sum();
        let mut words = vec![
            MAGIC,
            self.threads.len() as u64,
            operations as u64,
            local + u64::from(self.shared),
            self.calls,
        ];
        words.extend(self.threads.iter().map(|list| list.operations.len() as u64));
        let mut base = 0;
        for list in &self.threads {
            let slot = |number: u32, kept_for_all: bool| {
                (if kept_for_all { local } else { base }) + u64::from(number)
            };
            for operation in &list.operations {
                let kind = operation.word >> (SIZE_BITS + 8);
                let from = slot(operation.from, kind & WAIT != 0);
                let to = match kind {
                    SPAWN => u64::from(operation.to),
                    _ => slot(operation.to, kind & SHARE != 0),
                };
                words.extend([operation.word, from | to << 32]);
            }
            base += slots(list);
        }
        words.into_iter().flat_map(u64::to_ne_bytes).collect()
    }
}

/// Which blocks are freed by another thread than the one that allocated them.
struct Wanderers {
    /// The thread that allocated each block, and whether another freed it.
    by: Vec<(u32, bool)>,
}

impl Wanderers {
    fn of(trace: &Trace) -> Self {
        let mut found = Self { by: Vec::new() };
        Blocks::follow(trace, |step, act| match act {
            Act::Alloc(block) => found.begins(&block),
            Act::Free(block) | Act::Lost(block) => found.ends(step, &block),
            Act::Realloc { from, to } => {
                from.iter().for_each(|block| found.ends(step, block));
                found.begins(&to);
            }
            Act::FreeNull | Act::FreeUnknown | Act::Failed => {}
        });
        found
    }

    fn begins(&mut self, block: &Block) {
        let at = block.id as usize;
        if self.by.len() <= at {
            self.by.resize(at + 1, (NOBODY, false));
        }
        // A block is found lost when the next one takes its address, before that one begins.
        self.by[at].0 = block.thread as u32;
    }

    fn ends(&mut self, step: &Step, block: &Block) {
        let (began, wanders) = &mut self.by[block.id as usize];
        *wanders = *began != step.thread as u32;
    }

    fn wanders(&self, block: &Block) -> bool {
        self.by[block.id as usize].1
    }
}

struct Making {
    plan: Plan,
    wanderers: Wanderers,
    /// The slot of each block, by its number.
    places: Vec<u32>,
    begun: Vec<bool>,
    /// The thread of the step before.
    before: usize,
    too_large: bool,
}

impl Making {
    fn act(&mut self, step: &Step, act: Act) {
        let thread = step.thread;
        if !self.begun[thread] {
            self.begin(thread);
        }
        self.before = thread;
        self.plan.calls += u64::from(!matches!(act, Act::FreeUnknown | Act::Failed));
        match act {
            Act::Alloc(block) => {
                let kind = match block.how {
                    How::Malloc => MALLOC,
                    How::Calloc => CALLOC,
                    How::Aligned => ALIGNED,
                };
                let (flag, to) = self.place(&block);
                self.push(thread, kind | flag, &block, 0, to);
            }
            Act::Free(block) | Act::Lost(block) => {
                let (flag, from) = self.leave(thread, &block);
                self.push(thread, FREE | flag, &block, from, 0);
            }
            Act::Realloc { from: Some(old), to: new } => {
                let (wait, from) = self.leave(thread, &old);
                let (share, to) = self.place(&new);
                self.push(thread, REALLOC | wait | share, &new, from, to);
                self.push(thread, OLD, &old, 0, 0);
            }
            Act::Realloc { from: None, to } => {
                let (flag, slot) = self.place(&to);
                self.push(thread, MALLOC | flag, &to, 0, slot);
            }
            Act::FreeNull => self.raw(thread, FREE_NULL, 0, 0, 0, 0),
            Act::FreeUnknown | Act::Failed => {}
        }
    }

    /// A thread is started by the one that made the last call before its first, which usually is
    /// the one that started it in the program. The first thread is not started by another.
    fn begin(&mut self, thread: usize) {
        self.begun[thread] = true;
        if thread == 0 {
            return;
        }
        if !self.begun[0] {
            self.before = 0;
        }
        self.raw(self.before, SPAWN, 0, 0, 0, thread as u32);
    }

    /// Finds a slot for a block.
    fn place(&mut self, block: &Block) -> (u64, u32) {
        let (flag, slot) = if self.wanderers.wanders(block) {
            self.plan.shared += 1;
            (SHARE, self.plan.shared - 1)
        } else {
            let list = &mut self.plan.threads[block.thread];
            let fresh = list.slots;
            let slot = list.free.pop().unwrap_or(fresh);
            list.slots += u32::from(slot == fresh);
            (0, slot)
        };
        self.places[block.id as usize] = slot;
        (flag, slot)
    }

    /// Frees a block's slot.
    fn leave(&mut self, thread: usize, block: &Block) -> (u64, u32) {
        let slot = self.places[block.id as usize];
        if self.wanderers.wanders(block) {
            return (WAIT, slot);
        }
        self.plan.threads[thread].free.push(slot);
        (0, slot)
    }

    fn push(&mut self, thread: usize, kind: u64, block: &Block, from: u32, to: u32) {
        self.too_large |= block.size >> SIZE_BITS != 0;
        self.raw(thread, kind, block.align_log2, block.size, from, to);
    }

    fn raw(&mut self, thread: usize, kind: u64, align: u8, size: u64, from: u32, to: u32) {
        let word = kind << (SIZE_BITS + 8) | u64::from(align) << SIZE_BITS | size;
        self.plan.threads[thread].operations.push(Operation { word, from, to });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::Writer;
    use crate::{Call, Event, FileHeader};

    fn plan(calls: &[(u32, Call)]) -> Plan {
        let mut writer = Writer::new(Vec::new(), &FileHeader::here(1, 1, b"")).unwrap();
        let mut sequence = 0;
        for &(thread, call) in calls {
            let event = Event { sequence, call };
            writer.record(thread, &event, 0).unwrap();
            sequence = event.end() + 1;
        }
        Plan::of(&Trace::read(&writer.finish(0).unwrap()[..]).unwrap()).unwrap()
    }

    fn kinds(plan: &Plan, thread: usize) -> Vec<u64> {
        plan.threads[thread].operations.iter().map(|o| o.word >> (SIZE_BITS + 8)).collect()
    }

    #[test]
    fn a_thread_uses_its_slots_again() {
        let mut calls = Vec::new();
        for i in 1..100 {
            calls.push((1, Call::Malloc { size: 10, address: 16 * i }));
            calls.push((1, Call::Free { address: 16 * i }));
        }
        let plan = plan(&calls);
        assert_eq!((plan.threads[0].slots, plan.shared, plan.calls()), (1, 0, 198));
    }

    #[test]
    fn a_block_that_wanders_has_a_slot_of_its_own_and_is_waited_for() {
        let plan = plan(&[
            (1, Call::Malloc { size: 10, address: 16 }),
            (2, Call::Realloc { old: 16, size: 20, new: 32, took: 1 }),
            (1, Call::Malloc { size: 10, address: 16 }),
            (1, Call::Free { address: 32 }),
            (2, Call::Free { address: 16 }),
        ]);
        assert_eq!(plan.shared, 3);
        assert_eq!(kinds(&plan, 0), [MALLOC | SHARE, SPAWN, MALLOC | SHARE, FREE | WAIT]);
        assert_eq!(kinds(&plan, 1), [REALLOC | WAIT | SHARE, OLD, FREE | WAIT]);
    }

    #[test]
    fn what_the_trace_does_not_know_is_left_out() {
        let plan = plan(&[
            (1, Call::Free { address: 16 }),
            (1, Call::Malloc { size: 1 << 60, address: 0 }),
            (1, Call::Malloc { size: 1, address: 32 }),
            (1, Call::Malloc { size: 2, address: 32 }),
        ]);
        assert_eq!(kinds(&plan, 0), [MALLOC, FREE, MALLOC]);
    }

    #[test]
    fn a_thread_that_was_first_is_started_by_the_first_one() {
        let mut writer = Writer::new(Vec::new(), &FileHeader::here(1, 1, b"")).unwrap();
        let call = |address| Call::Malloc { size: 1, address };
        writer.record(2, &Event { sequence: 0, call: call(16) }, 0).unwrap();
        writer.record(1, &Event { sequence: 1, call: call(32) }, 0).unwrap();
        let trace = Trace::read(&writer.finish(0).unwrap()[..]).unwrap();
        let plan = Plan::of(&trace).unwrap();
        assert_eq!((kinds(&plan, 0), kinds(&plan, 1)), (vec![SPAWN, MALLOC], vec![MALLOC]));
    }

    #[test]
    fn blocks_larger_than_any_memory_are_refused() {
        let mut writer = Writer::new(Vec::new(), &FileHeader::here(1, 1, b"")).unwrap();
        let call = Call::Malloc { size: 1 << 50, address: 16 };
        writer.record(1, &Event { sequence: 0, call }, 0).unwrap();
        let trace = Trace::read(&writer.finish(0).unwrap()[..]).unwrap();
        assert!(Plan::of(&trace).is_err());
    }
}
