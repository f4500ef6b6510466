//! A file made from events.

use allod_trace_core::block::{Block, LONGEST};
use allod_trace_core::event::Event;
use allod_trace_core::file::{self, End, FileHeader};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes a trace: a block whenever one is full, the rest and the end in [`Writer::finish`].
#[derive(Debug)]
pub struct Writer<W> {
    output: W,
    /// The block that each thread is writing.
    open: BTreeMap<u32, Block<Vec<u8>>>,
    blocks: u64,
    events: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// When the output takes no more.
    pub fn new(mut output: W, header: &FileHeader<'_>) -> io::Result<Self> {
        let mut bytes = [0; file::HEADER];
        header.write(&mut bytes);
        output.write_all(&bytes)?;
        Ok(Self { output, open: BTreeMap::new(), blocks: 0, events: 0 })
    }

    /// Adds an event of a thread at `time`, in nanoseconds since the recording began. A thread's
    /// events come in the order of their numbers.
    ///
    /// # Errors
    /// When the output takes no more.
    pub fn record(&mut self, thread: u32, event: &Event, time: u64) -> io::Result<()> {
        if self.open.get_mut(&thread).is_some_and(|block| block.push(event)) {
            return Ok(());
        }
        if let Some(full) = self.open.remove(&thread) {
            self.write(full)?;
        }
        let memory = vec![0; LONGEST];
        let mut block =
            Block::open(memory, thread, event.sequence, time).expect("the longest block is one");
        block.push(event);
        self.open.insert(thread, block);
        Ok(())
    }

    /// Writes the remaining blocks, and the end.
    ///
    /// # Errors
    /// When the output takes no more.
    pub fn finish(mut self, time: u64) -> io::Result<W> {
        for block in std::mem::take(&mut self.open).into_values() {
            self.write(block)?;
        }
        let mut bytes = [0; file::END];
        End { blocks: self.blocks, events: self.events, time, missed: 0 }.write(&mut bytes);
        self.output.write_all(&bytes)?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn write(&mut self, block: Block<Vec<u8>>) -> io::Result<()> {
        self.blocks += 1;
        self.events += u64::from(block.events());
        let (length, memory) = block.seal();
        self.output.write_all(&memory[..length])
    }
}
